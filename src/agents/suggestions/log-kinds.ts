import kinds from './log-kinds.json' with { type: 'json' };

/** A dataset with its columns. Columns inside objects have dotted names. */
export type LogDataset = { name: string; columns: readonly { name: string }[] };

type LogKindEntry = {
  source: string;
  main: string;
  entities: readonly string[];
  parts: Record<string, readonly string[]>;
};

/**
 * The kinds of logs that a template can read. `parts` lists the columns that can contain each part of an event (ECS, Sysmon, Windows,
 * CloudTrail, and plain names). `source` says which events these are. A dataset is of a kind if it has the `main` part. Its entity is the first existing part of `entities`.
 */
export const logKinds: Record<LogKind, LogKindEntry> = kinds;

export type LogKind = keyof typeof kinds;

/** The parts of a log kind that a dataset has, with their columns, most likely first. `entity` is the part that identifies the entity. */
export type LogShape = { dataset: string; kind: LogKind; entity: string; columns: Record<string, readonly string[]> };

/** Returns the shape of a dataset as logs of a kind, or undefined if it has no main part or no entity. */
export function findLogShape(dataset: LogDataset, kind: LogKind): LogShape | undefined {
  const { main, entities, parts } = logKinds[kind];
  const names = new Set(dataset.columns.map(({ name }) => name));
  const columns = Object.fromEntries(
    Object.entries(parts)
      .map(([part, candidates]) => [part, candidates.filter((name) => names.has(name))] as const)
      .filter(([, existing]) => existing.length > 0),
  );
  const entity = entities.find((part) => part in columns);
  return main in columns && entity !== undefined ? { dataset: dataset.name, kind, entity, columns } : undefined;
}

/** Returns the SQL expression for a part of an event. */
export function partSql({ columns }: LogShape, part: string): string {
  const expressions = (columns[part] ?? []).map(columnSql);
  return expressions.length === 1 ? expressions[0]! : `coalesce(${expressions.join(', ')})`;
}

/** Returns the SQL expression for a column as text. It reads from `_event`, so that a column no event has is null instead of an error. */
export const columnSql = (column: string): string => `(_event->>'$.${column}')`;

export const quoteSqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Builds an event with the given parts, each in its most likely column. */
export function buildEvent(
  { columns }: Pick<LogShape, 'columns'>,
  parts: Record<string, unknown>,
): Record<string, unknown> {
  const event: Record<string, unknown> = {};
  for (const [part, value] of Object.entries(parts)) {
    const path = columns[part]?.[0]?.split('.');
    if (!path) continue;
    let parent = event;
    for (const key of path.slice(0, -1)) parent = (parent[key] ??= {}) as Record<string, unknown>;
    parent[path.at(-1)!] = value;
  }
  return event;
}
