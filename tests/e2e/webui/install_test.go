package webui

import (
	"sync"
	"testing"

	"github.com/turnkeel/turnkeel/internal/debian"
)

// The programs that the browser is made of; Debian's packages have other names.
const chromium, chromedriver = "chromium", "chromedriver"

// installChromium makes sure that the browser and its driver are there, and
// installs Debian's packages if they are not: once, while parallel tests wait.
// What cannot be installed fails the test.
func installChromium(t *testing.T) {
	t.Helper()
	if err := installed(); err != nil {
		t.Fatal(err)
	}
}

var installed = sync.OnceValue(func() error {
	return debian.Install(func() []string { return debian.NotInPath(chromium, chromedriver) }, "chromium", "chromium-driver")
})
