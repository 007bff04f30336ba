import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buildApp } from '../../app/http-server.ts';
import { buildDeps } from '../../app/build-deps.ts';
import { loadConfig } from '../../config.ts';
import { openDb } from '../../platform/db/db.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { printLines } from '../support/output.ts';

/** Returns the OpenAPI document of this version's routes. Needs no database, since the pool connects on first use. */
export async function openapiText(): Promise<string> {
  const db = openDb('postgres://unused@127.0.0.1:1/unused');
  const { deps, stop } = buildDeps({ config: loadConfig({}), db, log: createLogger('silent') });
  const app = await buildApp(deps);
  await app.ready();
  const text = `${JSON.stringify(app.swagger(), null, 2)}\n`;
  await app.close();
  await stop();
  await db.destroy();
  return text;
}

export async function openapiCommand(): Promise<number> {
  await writeFile(resolve(import.meta.dirname, '../../../openapi.json'), await openapiText());
  printLines('Wrote openapi.json.');
  return 0;
}
