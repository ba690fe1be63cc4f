package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/serialization"
	serversql "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/searchattribute/sadefs"
	schema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// ensureNamespace creates the namespace, or adds to an existing one what it lacks of the wanted search attributes.
func ensureNamespace(ctx context.Context, cfg *devConfig, opts options) error {
	db, err := serversql.NewSQLDB(sqlplugin.DbKindMain, cfg.sql, resolver.NewNoopResolver(), log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	name := namespace
	// No row is an error of this call, and so is a broken database: the insertion below tells them apart.
	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &name})
	if err != nil || len(rows) == 0 {
		return createNamespace(cfg, opts)
	}
	return updateNamespace(ctx, db, rows[0], opts)
}

func createNamespace(cfg *devConfig, opts options) error {
	ns, err := schema.NewNamespaceConfig(cfg.ClusterMetadata.CurrentClusterName, namespace, false, nil)
	if err != nil {
		return err
	}
	retention := opts.Retention
	if retention == 0 {
		retention = defaultRetention
	}
	if err := amend(ns.Detail.GetConfig(), opts.SearchAttributes, retention); err != nil {
		return err
	}
	return schema.CreateNamespaces(cfg.sql, ns)
}

func updateNamespace(ctx context.Context, db sqlplugin.DB, row sqlplugin.NamespaceRow, opts options) error {
	serializer := serialization.NewSerializer()
	encoding, err := enumspb.EncodingTypeFromString(row.DataEncoding)
	if err != nil {
		return err
	}
	detail, err := serializer.NamespaceDetailFromBlob(&commonpb.DataBlob{Data: row.Data, EncodingType: encoding})
	if err != nil {
		return err
	}
	before := proto.Clone(detail)
	if detail.Config == nil {
		detail.Config = &persistencespb.NamespaceConfig{}
	}
	if err := amend(detail.Config, opts.SearchAttributes, opts.Retention); err != nil {
		return err
	}
	if proto.Equal(before, detail) {
		return nil
	}
	blob, err := serializer.NamespaceDetailToBlob(detail)
	if err != nil {
		return err
	}
	row.Data, row.DataEncoding = blob.GetData(), blob.GetEncodingType().String()
	if row.ID == nil {
		row.ID = primitives.MustParseUUID(detail.GetInfo().GetId())
	}
	_, err = db.UpdateNamespace(ctx, &row)
	return err
}

// amend gives each wanted attribute one of the columns that the schema has ready for its type. An attribute that
// is there stays in its column, or its values would be lost. Retention 0 is left as it is.
func amend(ns *persistencespb.NamespaceConfig, wanted map[string]enumspb.IndexedValueType, retention time.Duration) error {
	if retention > 0 {
		ns.Retention = durationpb.New(retention)
	}
	columns := sadefs.GetDBIndexSearchAttributes(nil).CustomSearchAttributes
	have := make(map[string]enumspb.IndexedValueType)
	for column, alias := range ns.CustomSearchAttributeAliases {
		have[alias] = columns[column]
	}
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if kind, ok := have[name]; ok {
			if kind != wanted[name] {
				return fmt.Errorf("search attribute %s is of type %s, not %s; delete the database or name another file with --db", name, kind, wanted[name])
			}
			continue
		}
		column, ok := freeColumn(columns, ns.CustomSearchAttributeAliases, wanted[name])
		if !ok {
			return fmt.Errorf("no room for search attribute %s: all of type %s are taken", name, wanted[name])
		}
		if ns.CustomSearchAttributeAliases == nil {
			ns.CustomSearchAttributeAliases = make(map[string]string)
		}
		ns.CustomSearchAttributeAliases[column] = name
	}
	return nil
}

func freeColumn(columns map[string]enumspb.IndexedValueType, taken map[string]string, kind enumspb.IndexedValueType) (string, bool) {
	for _, column := range slices.Sorted(maps.Keys(columns)) {
		if _, used := taken[column]; !used && columns[column] == kind {
			return column, true
		}
	}
	return "", false
}
