import type { DuckDBConnection } from '@duckdb/node-api';

/** Returns the parse tree of a statement as JSON text, the input of `inspectTree`. */
export async function serializeTree(connection: DuckDBConnection, sql: string): Promise<string> {
  const result = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  return String(result.getRows()[0]?.[0]);
}

/** Returns the text of a statement from its parse tree. */
export async function deserializeTree(connection: DuckDBConnection, tree: string): Promise<string> {
  const result = await connection.runAndReadAll('SELECT json_deserialize_sql($1::JSON)', [tree]);
  return String(result.getRows()[0]?.[0]);
}
