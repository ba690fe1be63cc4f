package support

import (
	"context"
	"fmt"

	"github.com/turnkeel/turnkeel/tooldefs"
)

// CustomerQuery is what the model gives to lookup_customer.
type CustomerQuery struct {
	CustomerID string `json:"customer_id" jsonschema:"description=The customer's number such as C-17,pattern=^C-[0-9]+$"`
}

// Customer is what lookup_customer answers.
type Customer struct {
	CustomerID string `json:"customer_id"`
	Name       string `json:"name"`
	Since      int    `json:"since"` // year of the first order
}

// LookupCustomer reads one customer, like [LookupOrder].
func LookupCustomer() *tooldefs.Tool {
	return tooldefs.Define(tooldefs.Spec[CustomerQuery, Customer]{
		Name:         "lookup_customer",
		Description:  "Looks up a customer: the name, and since when they have bought here.",
		Effects:      tooldefs.None,
		ParallelSafe: tooldefs.Always,
		Handler: func(ctx context.Context, _ *tooldefs.Call, in CustomerQuery) (Customer, error) {
			if err := work(ctx, lookupTime); err != nil {
				return Customer{}, err
			}
			return findCustomer(in.CustomerID)
		},
	})
}

func findCustomer(id string) (Customer, error) {
	for _, c := range []Customer{
		{"C-17", "Ada Okoye", 2019},
		{"C-23", "Bruno Lind", 2023},
	} {
		if c.CustomerID == id {
			return c, nil
		}
	}
	return Customer{}, fmt.Errorf("there is no customer %s", id)
}
