import { clickhouse } from './clickhouse.ts';
import type { Dialect } from './dialect.ts';
import { duckdb } from './duckdb.ts';
import { esql } from './esql.ts';
import { kql } from './kql.ts';
import { postgres } from './postgres.ts';
import { ppl } from './ppl.ts';
import { spl } from './spl.ts';

/** The query language of every kind of connection. */
export const dialects = {
  local: duckdb,
  postgres,
  clickhouse,
  elasticsearch: esql,
  opensearch: ppl,
  splunk: spl,
  sentinel: kql,
} satisfies Record<string, Dialect>;

export type DialectKind = keyof typeof dialects;
export const dialectKinds = Object.keys(dialects) as DialectKind[];
