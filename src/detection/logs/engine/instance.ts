import { DuckDBInstance } from '@duckdb/node-api';
import { quoteLiteral } from './sql-text.ts';
import type { OpenOptions } from './protocol.ts';

/**
 * Opens an in-memory engine that can access one folder and nothing else: no network, no extensions, no spilling to disk, and no settings that a
 * statement could change (source: DuckDB documentation, "Securing DuckDB").
 */
export async function openInstance(options: OpenOptions): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: `${options.memoryMb}MiB`,
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  await connection.run(`SET allowed_directories = [${quoteLiteral(`${options.directory}/`)}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
}
