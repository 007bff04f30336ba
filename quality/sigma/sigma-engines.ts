import pg from 'pg';
import { convertTask } from '../../src/detection/sigma/convert/convert-task.ts';
import type { ConvertedRule } from '../../src/detection/sigma/convert/convert-rules.ts';
import type { SiemKind } from '../../src/detection/siem/connectors/registry.ts';
import { withInProcessProgram } from '../../test/support/program-environment.ts';
import { measureClickhouseCorrelations } from './clickhouse-correlations.ts';
import { formatRatio, type QualityFigure } from '../figures.ts';

/** The matches of each rule in the embedded engine, as indexes of events of the Windows dataset. Null if the engine cannot run the rule. */
export type EmbeddedMatches = ReadonlyMap<string, ReadonlySet<number> | null>;

type Engine = {
  kind: Extract<SiemKind, 'postgres' | 'clickhouse'>;
  name: string;
  /** The types of a column with text and of one with JSON. */
  types: { text: string; json: string; time: string; suffix: string };
  execute: (statement: string) => Promise<void>;
  /** Returns the times of the rows. */
  selectTimes: (query: string) => Promise<Date[]>;
};
type Table = { name: string; columns: Map<string, 'text' | 'json'> };

const timeColumn = 'event_time';
const windowsTable = 'windows';
/** The columns by which a conversion recognizes the form of the Windows events of the regression cases. */
export const windowsColumns = ['Event.System.EventID', 'Event.System.Channel', 'Event.EventData.Image'];
/** The time tells the events of a query's rows apart: event n has this time plus n seconds. */
const firstMs = Date.parse('2024-06-01T00:00:00Z');

/** Runs all rules, converted for PostgreSQL, on the events, and compares the matches with those of the embedded engine. */
export function compareWithPostgres(
  texts: readonly string[],
  events: readonly Record<string, unknown>[],
  embedded: EmbeddedMatches,
): Promise<QualityFigure[]> {
  return withInProcessProgram(async ({ url }) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return await compare(texts, events, embedded, {
        kind: 'postgres',
        name: 'PostgreSQL',
        types: { text: 'text', json: 'jsonb', time: 'timestamptz', suffix: '' },
        execute: async (statement) => void (await client.query(statement)),
        selectTimes: async (query) =>
          (await client.query<Record<typeof timeColumn, Date>>(query)).rows.map((row) => row[timeColumn]),
      });
    } finally {
      await client.end();
    }
  });
}

/**
 * Like `compareWithPostgres`, on the ClickHouse server whose HTTP interface has this address, and runs correlations there. It creates tables in
 * its default database.
 */
export async function compareWithClickhouse(
  texts: readonly string[],
  events: readonly Record<string, unknown>[],
  embedded: EmbeddedMatches,
  address: string,
): Promise<QualityFigure[]> {
  const post = async (body: string): Promise<string> => {
    const response = await fetch(address, { method: 'POST', body });
    const answer = await response.text();
    if (!response.ok) throw new Error(answer.slice(0, 500));
    return answer;
  };
  const figures = await compare(texts, events, embedded, {
    kind: 'clickhouse',
    name: 'ClickHouse',
    types: {
      text: 'String',
      json: 'String',
      time: "DateTime64(3, 'UTC')",
      suffix: ' ENGINE = MergeTree ORDER BY tuple()',
    },
    execute: async (statement) => void (await post(statement)),
    selectTimes: async (query) =>
      (await post(`${query}\nFORMAT JSONEachRow`))
        .split('\n')
        .filter(Boolean)
        .map(
          (line) =>
            new Date(`${(JSON.parse(line) as Record<typeof timeColumn, string>)[timeColumn].replace(' ', 'T')}Z`),
        ),
  });
  return [...figures, ...(await measureClickhouseCorrelations(async (text) => void (await post(text)), address))];
}

async function compare(
  texts: readonly string[],
  events: readonly Record<string, unknown>[],
  embedded: EmbeddedMatches,
  engine: Engine,
): Promise<QualityFigure[]> {
  const datasets = [{ name: windowsTable, columns: windowsColumns }];
  const rules = texts.flatMap((text) =>
    convertTask({ kind: engine.kind, timeColumn, mappingFolders: [], datasets, rules: text }),
  );
  for (const table of listTables(rules).values()) await createTable(engine, table);
  await insertEvents(engine, events);
  const converted = rules.filter(({ result }) => result.query !== null);
  const rejected = rules.filter(({ result }) => result.query === null);
  let [running, same] = [0, 0];
  const problems: QualityFigure[] = [];
  for (const { result } of converted) {
    try {
      const found = await findEvents(engine, result.query!);
      running += 1;
      const expected = embedded.get(result.id!);
      // Every other dataset is empty.
      if (result.dataset !== windowsTable || !expected) continue;
      same += found.intersection(expected).size;
      const [more, fewer] = [[...found.difference(expected)], [...expected.difference(found)]];
      if (more.length + fewer.length > 0)
        problems.push({
          name: `differs on ${engine.name}: ${result.title}`,
          measured: `events found only there: ${more.join(' ') || 'none'}, only by the embedded engine: ${fewer.join(' ') || 'none'}`,
        });
    } catch (error) {
      const [message] = (error as Error).message.split('\n');
      problems.push({ name: `fails on ${engine.name}: ${result.title}`, measured: message! });
    }
  }
  return [
    {
      name: `rules that convert for and run on ${engine.name}`,
      measured: `${formatRatio(running, rules.length)} (${running}/${rules.length})`,
    },
    ...rejected.map(({ result }) => ({
      name: `does not convert for ${engine.name}: ${result.title}`,
      measured: result.errors[0]!.message,
    })),
    {
      name: `matches of ${engine.name} that the embedded engine also finds`,
      measured: `${same}; rules that fail or differ: ${problems.length}`,
      target: '0 fail or differ',
      isMet: problems.length === 0,
    },
    ...problems,
  ];
}

/** Returns the tables that rules read. A column of which a rule reads a key contains JSON. */
function listTables(rules: readonly ConvertedRule[]): Map<string, Table> {
  const tables = new Map<string, Table>();
  for (const { ruleQuery } of rules) {
    if (!ruleQuery) continue;
    const table = tables.get(ruleQuery.table) ?? { name: ruleQuery.table, columns: new Map() };
    tables.set(table.name, table);
    for (const name of ruleQuery.fields.flatMap(({ names }) => names)) {
      const [column, ...keys] = name.split('.');
      if (keys.length > 0 || !table.columns.has(column!)) table.columns.set(column!, keys.length > 0 ? 'json' : 'text');
    }
  }
  return tables;
}

async function createTable({ types, execute }: Engine, { name, columns }: Table): Promise<void> {
  const list = [...columns].map(([column, type]) => `"${column}" ${types[type]}`);
  await execute(`create table ${name} (${[`${timeColumn} ${types.time}`, ...list].join(', ')})${types.suffix}`);
}

async function insertEvents({ kind, execute }: Engine, events: readonly Record<string, unknown>[]): Promise<void> {
  for (const [n, event] of events.entries()) {
    const columns = Object.keys(event).map((name) => `"${name}"`);
    const time = new Date(firstMs + n * 1000).toISOString().replace('T', ' ').replace('Z', '');
    const values = Object.values(event).map((value) => quote(JSON.stringify(value), kind));
    await execute(
      `insert into ${windowsTable} (${[timeColumn, ...columns].join(', ')}) values ('${time}', ${values.join(', ')})`,
    );
  }
}

const quote = (text: string, kind: Engine['kind']): string =>
  `'${(kind === 'clickhouse' ? text.replaceAll('\\', '\\\\') : text).replaceAll("'", "''")}'`;

async function findEvents({ selectTimes }: Engine, query: string): Promise<Set<number>> {
  const times = await selectTimes(query.replace('$window', '1 = 1'));
  return new Set(times.map((time) => (time.getTime() - firstMs) / 1000));
}
