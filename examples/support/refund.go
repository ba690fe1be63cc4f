package support

import (
	"context"
	"fmt"
	"time"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// RefundOrder is what the model gives to refund.
type RefundOrder struct {
	OrderID     string `json:"order_id" jsonschema:"description=The order to refund,pattern=^A-[0-9]+$"`
	AmountCents int    `json:"amount_cents" jsonschema:"description=How much to pay back,minimum=1"`
}

// Refunded is what refund answers.
type Refunded struct {
	OrderID     string    `json:"order_id"`
	AmountCents int       `json:"amount_cents"`
	PaidAt      time.Time `json:"paid_at"`
}

// Refund pays money back, into the ledger at that path. It is Keyed: when a
// worker dies in the middle, the call is started again with the same key, and
// the ledger knows by the key whether it has been paid already.
func Refund(ledgerPath string) *tooldefs.Tool { return refundTool(ledger{path: ledgerPath}) }

func refundTool(book ledger) *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[RefundOrder, Refunded]{
		Name:        "refund",
		Description: "Pays back an order, or a part of it, to the customer.",
		Effects:     tooldefs.External,
		Class:       tooldefs.Keyed,
		Handler: func(ctx context.Context, call *tooldefs.Call, in RefundOrder) (Refunded, error) {
			return refund(ctx, book, call.IdempotencyKey(), in)
		},
	})
}

func refund(ctx context.Context, book ledger, key string, in RefundOrder) (Refunded, error) {
	order, err := findOrder(in.OrderID)
	if err != nil {
		return Refunded{}, err
	}
	if in.AmountCents > order.TotalCents {
		return Refunded{}, fmt.Errorf("order %s cost %d cents; no more can be refunded", order.OrderID, order.TotalCents)
	}
	paid, err := book.pay(ctx, entry{Key: key, OrderID: in.OrderID, AmountCents: in.AmountCents, At: time.Now().UTC()})
	if err != nil {
		return Refunded{}, err
	}
	return Refunded{OrderID: paid.OrderID, AmountCents: paid.AmountCents, PaidAt: paid.At}, nil
}
