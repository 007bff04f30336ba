import { registerHooks } from 'node:module';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RawBuilder } from 'kysely';
import pg from 'pg';
import { inject } from 'vitest';
import { compareRows } from './compare-rows.ts';
import { checkStatements } from './row-sites.ts';

type Executor = ReturnType<Parameters<RawBuilder<unknown>['execute']>[0]['getExecutor']>;
type Provider = { getExecutor: () => Executor };
type Run = (...args: unknown[]) => unknown;

const declaredRows = inject('declaredRows');
const fieldsOf = keepFields();

// The files of one worker share the loaded modules, so the first of them changes what the others find.
const root = resolve(import.meta.dirname, '../../..');
if (!('checkRows' in globalThis))
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith('file:')) return loaded;
      const path = relative(root, fileURLToPath(url.split('?')[0]!));
      const isChecked = /^src\/.*\.ts$/.test(path) && !path.endsWith('.test.ts') && path !== 'src/platform/db/db.ts';
      return isChecked ? { ...loaded, source: checkStatements(path, String(loaded.source)) } : loaded;
    },
  });

/**
 * Replaces `queryRows`, `queryRow` or `sql` where a statement declares its row type (`checkedRows`). Every result is compared with the type. A
 * difference rejects the statement, and thus fails the test that runs it.
 */
Object.assign(globalThis, {
  checkRows:
    (key: string, original: Run): Run =>
    (first, ...rest) => {
      if (isProvider(first)) return original(watch(first, key), ...rest);
      const statement = original(first, ...rest) as RawBuilder<unknown>;
      const execute = statement.execute.bind(statement);
      return Object.assign(statement, { execute: (provider: Provider) => execute(watch(provider, key)) });
    },
});

const isProvider = (value: unknown): value is Provider => typeof (value as Provider).getExecutor === 'function';

/** Returns a transaction whose results are compared. */
function watch(provider: Provider, key: string): Provider {
  const declared = declaredRows[key];
  if (!declared) return provider;
  return {
    getExecutor() {
      const executor = provider.getExecutor();
      const executeQuery: Executor['executeQuery'] = async (query, ...options) => {
        const result = await executor.executeQuery(query, ...options);
        const fields = fieldsOf.get(result.rows);
        const differences = fields ? compareRows(declared, { fields, rows: result.rows as object[] }) : [];
        if (differences.length > 0) throw new Error(`${key}: ${differences.join(', ')}.`);
        return result as never;
      };
      return new Proxy(executor, {
        get(target, name) {
          if (name === 'executeQuery') return executeQuery;
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        },
      });
    },
  };
}

/**
 * Keeps the descriptions of the columns, which Kysely drops. All test files of a process share one `pg.Client`, so the first of them replaces its
 * `query` and the others find the descriptions there.
 */
function keepFields(): WeakMap<object, pg.FieldDef[]> {
  const { prototype } = pg.Client as unknown as { prototype: { query: Run & { fieldsOf?: typeof fieldsOf } } };
  if (prototype.query.fieldsOf) return prototype.query.fieldsOf;
  const { query } = prototype;
  const kept = new WeakMap<object, pg.FieldDef[]>();
  const keep = function (this: unknown, ...args: unknown[]): unknown {
    const answer = query.apply(this, args);
    if (!(answer instanceof Promise)) return answer;
    return answer.then((result: pg.QueryResult) => {
      if (Array.isArray(result.rows)) kept.set(result.rows, result.fields);
      return result;
    });
  };
  prototype.query = Object.assign(keep, { fieldsOf: kept });
  return kept;
}
