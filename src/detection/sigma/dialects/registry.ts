import { clickhouse } from './clickhouse.ts';
import type { SiemKind } from '../../siem/connectors/registry.ts';
import type { Dialect } from './dialect.ts';
import { duckdb } from './duckdb.ts';
import { esql } from './esql.ts';
import { kql } from './kql.ts';
import { postgres } from './postgres.ts';
import { ppl } from './ppl.ts';
import { spl } from './spl.ts';

/** The query language of every kind of connection. */
export const dialects: Record<SiemKind, Dialect> = {
  local: duckdb,
  postgres,
  clickhouse,
  elasticsearch: esql,
  opensearch: ppl,
  splunk: spl,
  sentinel: kql,
};

export const dialectKinds = Object.keys(dialects) as SiemKind[];
