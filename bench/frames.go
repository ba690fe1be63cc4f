package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// textFrame is a piece of a model's answer as it goes over the wire.
func textFrame(text, finish string) []byte {
	choice := map[string]any{"index": 0, "delta": map[string]any{"content": text}}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	frame, err := json.Marshal(map[string]any{
		"id": "a", "object": "chat.completion.chunk", "model": "m", "choices": []any{choice},
	})
	if err != nil {
		panic(fmt.Sprintf("encode %q: %v", text, err)) // a map of strings and numbers
	}
	return frame
}

// lastMessage is the content of the last message of a chat request.
func lastMessage(body io.Reader) (string, error) {
	var request struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return "", err
	}
	if len(request.Messages) == 0 {
		return "", errors.New("no messages")
	}
	return request.Messages[len(request.Messages)-1].Content, nil
}
