// Package effectlog holds what is said of histories to a real server: what a
// fold reads, what a payload may weigh, what a continued run carries. It has
// tests only.
package effectlog
