package support

import (
	"context"
	"fmt"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// OrderQuery is what the model gives to lookup_order.
type OrderQuery struct {
	OrderID string `json:"order_id" jsonschema:"description=The order's number such as A-1001,pattern=^A-[0-9]+$"`
}

// Order is what lookup_order answers.
type Order struct {
	OrderID    string `json:"order_id"`
	CustomerID string `json:"customer_id"`
	Item       string `json:"item"`
	TotalCents int    `json:"total_cents"`
	Status     string `json:"status"`
}

// LookupOrder reads one order. It changes nothing, so its calls may run side
// by side and may be repeated.
func LookupOrder() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[OrderQuery, Order]{
		Name:         "lookup_order",
		Description:  "Looks up an order: who bought what, for how much, and its status.",
		Effects:      tooldefs.None,
		ParallelSafe: tooldefs.Always,
		Handler: func(ctx context.Context, _ *tooldefs.Call, in OrderQuery) (Order, error) {
			if err := work(ctx, lookupTime); err != nil {
				return Order{}, err
			}
			return findOrder(in.OrderID)
		},
	})
}

func findOrder(id string) (Order, error) {
	for _, o := range []Order{
		{"A-1001", "C-17", "blue teapot", 4200, "delivered, reported broken"},
		{"A-1002", "C-17", "six cups", 3600, "shipped"},
		{"A-1003", "C-23", "tea tin", 900, "delivered"},
	} {
		if o.OrderID == id {
			return o, nil
		}
	}
	return Order{}, fmt.Errorf("there is no order %s", id)
}
