package support

import (
	"context"
	"errors"
	"testing"
)

func TestFind(t *testing.T) {
	t.Parallel()
	order, err := findOrder("A-1001")
	if err != nil || order.CustomerID != "C-17" {
		t.Errorf("got %+v, %v", order, err)
	}
	if customer, err := findCustomer(order.CustomerID); err != nil || customer.Name != "Ada Okoye" {
		t.Errorf("got %+v, %v", customer, err)
	}
	if _, err := findOrder("A-9"); err == nil {
		t.Error("A-9 was found")
	}
	if _, err := findCustomer("C-9"); err == nil {
		t.Error("C-9 was found")
	}
}

func TestWorkEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := work(ctx, lookupTime); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
