// Package child starts processes that end with the one that started them, as
// far as the system allows. It is worker-side and knows nothing of what they
// are; start at [Start] and [Attr].
package child
