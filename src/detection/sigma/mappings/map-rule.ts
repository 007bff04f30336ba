import type { LogSource } from '../model/rule.ts';
import type { Expression } from '../../matching/expression.ts';
import type { FieldNames } from './mapping.schema.ts';
import type { MappedSource, Mapping, Mappings, Shape } from './load-mappings.ts';

/** A dataset that exists, with the names of its columns in lower case. */
export type KnownDataset = { name: string; columns: ReadonlySet<string> };

/**
 * Where a rule's events are and what their fields are called. `names` returns the names that a Sigma field has in the logs, by priority. `where` selects the
 * log source. `isRecognized`: a dataset with fields of this form exists.
 */
export type RuleMapping = {
  table: string;
  where: Expression | null;
  names: (field: string) => string[];
  entity: readonly string[];
  shape: string;
  isRecognized: boolean;
  isMapped: boolean;
};

/** Returns how the rules of a log source read a kind of connection. `datasets` are those that exist, if that is known. */
export function mapLogSource(
  { list }: Pick<Mappings, 'list'>,
  logSource: LogSource,
  { kind, datasets }: { kind: string; datasets: readonly KnownDataset[] },
): RuleMapping {
  const candidates = findCandidates(list, logSource, kind);
  for (const { shape, source } of candidates) {
    const dataset = findDataset(shape, kind, datasets);
    if (dataset) return toRuleMapping(shape, source, { table: dataset, isRecognized: true });
  }
  const [first] = candidates;
  if (first) return toRuleMapping(first.shape, first.source, { table: first.shape.tables[kind]!, isRecognized: false });
  const table = defaultTable(logSource);
  return {
    table,
    where: null,
    names: (field) => [field],
    entity: [],
    shape: 'none',
    isRecognized: datasets.some(({ name }) => name === table),
    isMapped: false,
  };
}

type Candidate = { shape: Shape; source: MappedSource };

/** Returns the forms of a log source. The mappings that describe it most closely come first. */
function findCandidates(list: readonly Mapping[], logSource: LogSource, kind: string): Candidate[] {
  const found = list.flatMap((mapping) =>
    mapping.shapes
      .filter((shape) => shape.tables[kind] !== undefined)
      .flatMap((shape) => {
        const source = findSource([...shape.sources, ...mapping.sources], logSource);
        return source ? [{ shape, source }] : [];
      }),
  );
  const closeness = Math.max(...found.map(({ source }) => Object.keys(source.logSource).length));
  return found.filter(({ source }) => Object.keys(source.logSource).length === closeness);
}

/** Returns the source that has the most parts of a log source and no others. */
function findSource(sources: readonly MappedSource[], logSource: LogSource): MappedSource | undefined {
  const parts = (source: MappedSource): number => Object.keys(source.logSource).length;
  return sources
    .filter((source) =>
      Object.entries(source.logSource).every(([key, value]) => logSource[key as keyof LogSource] === value),
    )
    .reduce<MappedSource | undefined>((best, one) => (best && parts(best) >= parts(one) ? best : one), undefined);
}

function findDataset(shape: Shape, kind: string, datasets: readonly KnownDataset[]): string | undefined {
  const preferred = shape.tables[kind]!;
  const { recognizedBy } = shape;
  if (!recognizedBy) return datasets.some(({ name }) => name === preferred) ? preferred : undefined;
  const fitting = datasets.filter(({ columns }) => recognizedBy.every((name) => columns.has(name.toLowerCase())));
  return (fitting.find(({ name }) => name === preferred) ?? fitting[0])?.name;
}

function toRuleMapping(
  shape: Shape,
  source: MappedSource,
  found: { table: string; isRecognized: boolean },
): RuleMapping {
  const tables: FieldNames[] = [source.fields, shape.fields ?? {}];
  return {
    ...found,
    where: source.where,
    names: (field) => findNames(tables, field),
    entity: shape.entity ?? [],
    shape: shape.name,
    isMapped: true,
  };
}

function findNames(tables: readonly FieldNames[], field: string): string[] {
  for (const table of tables)
    for (const [name, names] of Object.entries(table))
      if (name.toLowerCase() === field.toLowerCase()) return [names].flat();
  for (const table of tables) if (table['*']) return [table['*']].flat().map((name) => name.replace('*', field));
  return [field];
}

/** Returns a dataset name made of the parts of a log source. */
export function defaultTable({ product, service, category }: LogSource): string {
  const parts = [product, service ?? category].filter((part) => part !== undefined);
  const name = [...new Set(parts)]
    .join('_')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[^a-z]+|_+$/g, '')
    .slice(0, 60);
  return name === '' ? 'events' : name;
}
