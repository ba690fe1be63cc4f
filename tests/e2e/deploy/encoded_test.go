package deploy

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/turnkeel/turnkeel"
)

var zlib = converter.NewZlibCodec(converter.ZlibCodecOptions{AlwaysEncode: true})

// zipped is the data converter of workers and clients that encode payloads.
func zipped() converter.DataConverter {
	return converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), zlib)
}

// Histories whose payloads are encoded replay by the worker that encodes them,
// and by the starter with a codec server. Without either that is told, and is
// no verdict on the code.
func TestReplay_Encoded(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	c, err := client.DialContext(t.Context(), client.Options{HostPort: server.Address, Namespace: server.Namespace, DataConverter: zipped()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.Temporal, s.Turns = c, turnkeel.NewClient(c, turnkeel.ClientOptions{Namespace: server.Namespace, TaskQueue: s.Queue})
	s.worker("old", "", zippedEnv+"=1")
	turn := s.Start("pay")
	s.approve(turn.ID, s.parked(turn.ID))
	if _, err := turn.Result(t.Context()); err != nil {
		t.Fatal(err)
	}
	codec := httptest.NewServer(converter.NewPayloadCodecHTTPHandler(zlib))
	t.Cleanup(codec.Close)
	for _, c := range []struct {
		name, bin string
		env       []string
		code      int
		says      string
	}{
		{"the worker", workerBinary(), s.env("old", "", zippedEnv+"=1"), 0, "replays "},
		{"the starter", starter, nil, 1, "binary/zlib"},
		{"another worker", workerBinary(), s.env("old", ""), 1, "TEMPORAL_CODEC_ENDPOINT"},
		{"a codec server", starter, []string{"TEMPORAL_CODEC_ENDPOINT=" + codec.URL}, 0, "replays "},
		{"a dead codec server", starter, []string{"TEMPORAL_CODEC_ENDPOINT=http://127.0.0.1:1"}, 1, "check the codec server"},
	} {
		if r := command(t, c.env, c.bin, "replay", turn.ID); r.code != c.code || !contains(r.out, c.says) {
			t.Errorf("%s (%s): exit code %d, want %d\n%s%s", c.name, filepath.Base(c.bin), r.code, c.code, r.out, r.errOut)
		}
	}
}
