// Package wire speaks with an OpenAI-compatible chat endpoint: it turns a
// transcript into a request, reads the streamed answer, and says of every
// failure what kind it is and whether another attempt may help.
//
// It is worker-side. Start reading at [Client.Complete].
//
// go-openai builds and sends the request and frames the stream. What it loses
// (status and headers of an error, errors inside a stream, where a stream was
// cut, empty strings, provider-private fields) is dealt with on both sides of
// it: [exchange] stands between it and the network, and [assembly] decodes
// the raw chunks. The package never retries; Temporal does.
package wire
