package mcptools

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fitResult makes the result of a response fit for the SDK to read without
// loss: a block of content that it does not know or a field of another type
// would lose the result of a call that was made, and one tool of a listing all
// others. It reports a change.
func fitResult(e map[string]json.RawMessage) bool {
	raw, has := e["result"]
	if !has {
		return false
	}
	if string(raw) == "null" {
		e["result"] = json.RawMessage(`{"_meta":{"` + noResultMeta + `":true}}`)
		return true
	}
	var result map[string]json.RawMessage
	if json.Unmarshal(raw, &result) != nil {
		return false
	}
	changed := fitMeta(result)
	changed = fitIsError(result, raw) || changed
	changed = fitListing(result, raw) || changed
	if kind, has := result["resultType"]; has && json.Unmarshal(kind, new(string)) != nil {
		delete(result, "resultType")
		changed = true
	}
	if content, ok := result["content"]; ok {
		result["content"] = readableContent(content)
		changed = true
	}
	if structured, ok := result["structuredContent"]; ok {
		if text, err := json.Marshal(string(structured)); err == nil {
			result["_meta"] = withMeta(result["_meta"], structuredMeta, text)
		}
		if json.Unmarshal(structured, new(any)) != nil { // a number that no float holds
			delete(result, "structuredContent")
		}
		changed = true
	}
	if !changed {
		return false
	}
	out, err := json.Marshal(result)
	if err != nil {
		return false
	}
	e["result"] = out
	return true
}

// fitMeta drops _meta that is no object, and what only we may write in it.
func fitMeta(result map[string]json.RawMessage) bool {
	raw, has := result["_meta"]
	if !has {
		return false
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(raw, &meta) != nil {
		delete(result, "_meta")
		return true
	}
	forged := false
	for _, own := range []string{structuredMeta, noResultMeta, sizeMeta} {
		if _, has := meta[own]; has {
			delete(meta, own)
			forged = true
		}
	}
	if !forged {
		return false
	}
	out, err := json.Marshal(meta)
	if err != nil {
		out = []byte("{}")
	}
	result["_meta"] = out
	return true
}

// fitIsError makes a boolean of the mark of an error. Whatever does not clearly
// say no says yes, and one yes of several is enough: an error must not pass for
// a result.
func fitIsError(result map[string]json.RawMessage, raw []byte) bool {
	mark, has := result["isError"]
	if !has {
		return false
	}
	all := []json.RawMessage{mark}
	if bytes.Count(raw, []byte(`"isError"`)) > 1 {
		all = append(all, valuesOf(raw, "isError")...)
	}
	is := false
	for _, m := range all {
		switch string(m) {
		case "false", "null", "0", `""`, `"false"`:
		default:
			is = true
		}
	}
	want := "false"
	if is {
		want = "true"
	}
	if string(mark) == want {
		return false
	}
	result["isError"] = json.RawMessage(want)
	return true
}

// valuesOf are all values that an object has under a key, which may stand in it
// more than once.
func valuesOf(object []byte, key string) []json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil
	}
	var found []json.RawMessage
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return found
		}
		if name == key {
			found = append(found, value)
		}
	}
	return found
}

// fitListing keeps the other tools of a listing when one of them cannot be read,
// and says how large one is that is not small. Nothing of a listing is kept for
// later: each call asks for the present one.
func fitListing(result map[string]json.RawMessage, raw []byte) bool {
	var tools []json.RawMessage
	if list, has := result["tools"]; !has || json.Unmarshal(list, &tools) != nil {
		return false
	}
	_, changed := result["ttlMs"]
	delete(result, "ttlMs")
	for i, tool := range tools {
		one := exactSchemas(tool)
		if json.Unmarshal(one, new(mcp.Tool)) != nil {
			one = readableTool(one)
		}
		if !bytes.Equal(one, tool) {
			tools[i], changed = one, true
		}
	}
	if len(raw) > smallListing {
		var size []byte
		size = strconv.AppendInt(append(size, '"'), int64(len(raw)), 10)
		result["_meta"] = withMeta(result["_meta"], sizeMeta, append(size, '"'))
		changed = true
	}
	if !changed {
		return false
	}
	out, err := json.Marshal(tools)
	if err != nil {
		return false
	}
	result["tools"] = out
	return true
}

// sizeMeta is where the size of a page of a listing stands that is no small one,
// in bytes, for the bound on all of them.
const (
	sizeMeta     = "turnkeel.size"
	smallListing = 16 << 10
)

// sizeOf is how many bytes a page of a listing has.
func sizeOf(page *mcp.ListToolsResult) int {
	text, _ := page.Meta[sizeMeta].(string)
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return smallListing
}

// readableTool is a tool without what only describes it and cannot be read. One
// whose name, description or schema cannot be read keeps its name and a schema
// that disables it.
func readableTool(raw json.RawMessage) json.RawMessage {
	var tool map[string]json.RawMessage
	if json.Unmarshal(raw, &tool) == nil {
		for key, value := range tool {
			switch key {
			case "name", "description", "inputSchema", "outputSchema":
				continue
			}
			one, err := json.Marshal(map[string]json.RawMessage{key: value})
			if err != nil || json.Unmarshal(one, new(mcp.Tool)) != nil {
				delete(tool, key)
			}
		}
		if out, err := json.Marshal(tool); err == nil && json.Unmarshal(out, new(mcp.Tool)) == nil {
			return out
		}
	}
	var name string
	_ = json.Unmarshal(tool["name"], &name) // none, then
	out, err := json.Marshal(map[string]any{"name": name, "inputSchema": unreadableSchema})
	if err != nil {
		return json.RawMessage(`{"name":"","inputSchema":{}}`)
	}
	return out
}

// unreadableSchema stands for a definition that cannot be read.
const unreadableSchema = "unreadable"

// withMeta is a _meta with one more value, that is JSON.
func withMeta(meta json.RawMessage, key string, value []byte) json.RawMessage {
	all := map[string]json.RawMessage{}
	if json.Unmarshal(meta, &all) != nil || all == nil {
		all = map[string]json.RawMessage{}
	}
	all[key] = value
	out, err := json.Marshal(all)
	if err != nil {
		return meta
	}
	return out
}
