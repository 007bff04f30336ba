import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { sql } from 'kysely';
import { root } from '../test/support/program.ts';
import { claims } from './claims.ts';
import { create } from './create.ts';
import { extract } from './extract.ts';
import { feedMillion } from './feed-million.ts';
import type { Figure, Line } from './figure.ts';
import { ingest } from './ingest.ts';
import { items } from './items.ts';
import { local } from './local.ts';
import { withDeps } from './place.ts';
import { start } from './start.ts';

const figures: Record<string, Figure> = {
  start,
  items,
  'feed-million': feedMillion,
  create,
  claims,
  local,
  extract,
  ingest,
};

const { values, positionals } = parseArgs({ options: { write: { type: 'boolean' } }, allowPositionals: true });
const unknown = positionals.filter((name) => !Object.hasOwn(figures, name));
if (unknown.length > 0) {
  console.error(`There is no figure ${unknown.join(', ')}. Figures: ${Object.keys(figures).join(', ')}.`);
  process.exit(2);
}

async function machine(): Promise<string> {
  const postgres = await withDeps(
    async ({ db }) => (await sql<{ v: string }>`select current_setting('server_version') as v`.execute(db)).rows[0]!.v,
  );
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const duckdb = String((await connection.runAndReadAll('select version()')).getRowsJson()[0]?.[0]);
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  return `${cpus().length} cores (${model}), ${Math.round(totalmem() / 2 ** 30)} GiB, ${process.platform} ${process.arch}; Node ${process.versions.node}, PostgreSQL ${postgres}, DuckDB ${duckdb}`;
}

const shown = (value: number | undefined): string =>
  value === undefined ? '' : value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

function table(title: string, lines: Line[]): string {
  const rows = lines.map(
    ({ what, unit, ours, bare, share }) =>
      `| ${what} | ${shown(ours)} | ${shown(bare)} | ${share === undefined ? '' : `${Math.round(share * 100)} %`} | ${unit} |`,
  );
  return [`## ${title}`, '', '| | here | bare | share | unit |', '|---|---:|---:|---:|---|', ...rows].join('\n');
}

const parts: string[] = [];
for (const [name, figure] of Object.entries(figures)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.error(`${name}: ${figure.title}`);
  const lines = await figure.run((text) => console.error(`  ${text}`));
  parts.push(table(figure.title, lines));
  console.log(`\n${parts.at(-1)}\n`);
}
const facts = await machine();
console.log(facts);

if (values.write) {
  const file = join(root, 'docs/reference/benchmarks.md');
  const head = `# Benchmarks

Made by \`npm run bench -- --write\`; \`npm run bench -- NAME … [--write]\` takes some of them: ${Object.keys(figures).join(', ')}. Each figure is the median of several rounds; where there is a bare counterpart both are measured in turn, and *share* is the median of the rounds' ratios (100 %: as good as bare; for times and costs bare ÷ here). The database is the embedded one with its usual settings, \`fsync\` included.

Machine: ${facts}.`;
  await writeFile(file, `${[head, ...inOrder(await readFile(file, 'utf8'))].join('\n\n')}\n`);
  console.log('docs/reference/benchmarks.md is written.');
}

/** The sections as they stand in the file, those that were measured now in their new form; the order is that of the figures. */
function inOrder(before: string): string[] {
  const titleOf = (section: string): string => section.slice(3).split('\n')[0]!;
  const sections = before.split(/\n(?=## )/).slice(1);
  const byTitle = new Map(
    [...sections.map((section) => section.trimEnd()), ...parts].map((section) => [titleOf(section), section]),
  );
  return Object.values(figures).flatMap(({ title }) => byTitle.get(title) ?? []);
}
process.exit(0);
