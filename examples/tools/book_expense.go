package main

import (
	"context"
	"fmt"
	"sync"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// Expense is what the model gives to book_expense. The tags are its schema.
type Expense struct {
	Date     string   `json:"date" jsonschema:"description=The day of the receipt,pattern=^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
	Cents    int64    `json:"cents" jsonschema:"description=The amount in euro cents,minimum=1"`
	Category string   `json:"category,omitempty" jsonschema:"enum=travel,enum=meals,enum=other,default=other"`
	Notes    []string `json:"notes,omitempty" jsonschema:"maxItems=5"`
}

// Booked is what book_expense answers.
type Booked struct {
	ID    string `json:"id"`
	Total int64  `json:"total_cents"` // of all expenses in the books
}

// BookExpense is a typed tool. It is Keyed, since the books deduplicate by the
// key: after a crash the call is started again, and is booked once. Large
// amounts wait for a person; what became of a lost call can be looked up.
func BookExpense(books *Books) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[Expense, Booked]{
		Name:        "book_expense",
		Description: "Books one expense. Call it once per receipt.",
		Effects:     tooldefs.External,
		Class:       tooldefs.Keyed,
		Output:      tooldefs.InferOutput(),
		Approval:    func(in Expense) bool { return in.Cents > 500_00 },
		Summary:     func(in Expense) string { return fmt.Sprintf("books %d cents (%s)", in.Cents, in.Category) },
		Handler: func(_ context.Context, call *tooldefs.Call, in Expense) (Booked, error) {
			return books.Book(call.IdempotencyKey(), in), nil
		},
		Reconcile: func(_ context.Context, call *tooldefs.Call, _ Expense) (tooldefs.Reconciled[Booked], error) {
			if booked, ok := books.Find(call.IdempotencyKey()); ok {
				return tooldefs.Happened(booked), nil
			}
			return tooldefs.DidNotHappen[Booked](), nil
		},
	})
}

// Books stands in for a bookkeeping service that honours idempotency keys. It
// is safe for concurrent use.
type Books struct {
	mu     sync.Mutex
	total  int64
	booked map[string]Booked // by key
}

// Book books an expense, unless its key is booked already.
func (b *Books) Book(key string, e Expense) Booked {
	b.mu.Lock()
	defer b.mu.Unlock()
	if before, ok := b.booked[key]; ok {
		return before
	}
	b.total += e.Cents
	if b.booked == nil {
		b.booked = map[string]Booked{}
	}
	b.booked[key] = Booked{ID: fmt.Sprintf("E-%d", len(b.booked)+1), Total: b.total}
	return b.booked[key]
}

// Find looks an expense up by its key.
func (b *Books) Find(key string) (Booked, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	booked, ok := b.booked[key]
	return booked, ok
}
