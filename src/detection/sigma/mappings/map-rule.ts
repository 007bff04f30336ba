import { type LogSource } from '../rules/rule.ts';
import { UnsupportedError } from '../../siem/dialects/dialect.ts';
import { allOf, listFields, type Expression } from '../../matching/expression.ts';
import type { FieldNames, MappedSource, Mapping, Mappings, Shape } from './load-mappings.ts';
import { didYouMean, nearestNames } from '../../../platform/lib/text/nearest-names.ts';

/** A dataset that exists, with the names of its columns in lower case. */
export type KnownDataset = { name: string; columns: ReadonlySet<string> };

/**
 * Where a rule's events are and what their fields are called. `names` returns the names that a Sigma field has in the logs, by priority, and
 * `isNested` whether they are those of JSON in which the field is a key at any depth. `where` selects the log source. `isRecognized`: a dataset with fields of this form exists.
 */
export type RuleMapping = {
  table: string;
  where: Expression | null;
  names: (field: string) => string[];
  isNested: (field: string) => boolean;
  entity: readonly string[];
  shape: string;
  isRecognized: boolean;
  isMapped: boolean;
};

type MapOptions = { kind: string; datasets: readonly KnownDataset[]; allowUnknown?: boolean | undefined };

/**
 * Returns how the rules of a log source read a kind of connection. `datasets` are those that exist, if that is known. Throws an UnsupportedError
 * for a log source of which no mapping knows every part, unless `allowUnknown` is set or a dataset has its name: without the condition of the
 * unknown part, a rule would match the events of other log sources.
 */
export function mapLogSource({ list }: Pick<Mappings, 'list'>, logSource: LogSource, options: MapOptions): RuleMapping {
  const { kind, datasets, allowUnknown = false } = options;
  const found = findCandidates(list, logSource, kind);
  const table = defaultTable(logSource);
  const isDataset = datasets.some(({ name }) => name === table);
  if (!allowUnknown && !found.some(({ missing }) => missing === 0) && !(found.length === 0 && isDataset))
    throw new UnsupportedError(describeUnknownSource(list, logSource, kind));
  const fewest = Math.min(...found.map(({ missing }) => missing));
  const candidates = found.filter(({ missing }) => missing === fewest);
  for (const { shape, source } of candidates) {
    const isProduct = shape.products[logSource.product ?? ''];
    const possible = isProduct ? datasets.filter((one) => canHaveProduct(list, one, logSource, kind)) : datasets;
    const dataset = findDataset(shape, kind, possible);
    if (!dataset) continue;
    const mapping = toRuleMapping(shape, source, { table: dataset.name, isRecognized: true });
    return { ...mapping, where: addProduct(mapping, isProduct, dataset) };
  }
  const [first] = candidates;
  if (first) return toRuleMapping(first.shape, first.source, { table: first.shape.tables[kind]!, isRecognized: false });
  return {
    table,
    where: null,
    names: (field) => [field],
    isNested: () => false,
    entity: [],
    shape: 'none',
    isRecognized: isDataset,
    isMapped: false,
  };
}

/** A form of a log source. `missing` is the number of parts of the log source that the form does not have. */
type Candidate = { shape: Shape; source: MappedSource; missing: number };

function findCandidates(list: readonly Mapping[], logSource: LogSource, kind: string): Candidate[] {
  return list.flatMap((mapping) =>
    mapping.shapes
      .filter((shape) => shape.tables[kind] !== undefined)
      .flatMap((shape) => {
        const source = findSource([...shape.sources, ...mapping.sources], logSource);
        const missing = Object.keys(logSource).length - Object.keys(source?.logSource ?? {}).length;
        return source ? [{ shape, source, missing }] : [];
      }),
  );
}

/**
 * Returns the source that has the most parts of a log source and no others. Parts that it does not have come from further sources, whose conditions
 * are added: `category: process_creation` with `service: sysmon` are the events of both.
 */
function findSource(sources: readonly MappedSource[], logSource: LogSource): MappedSource | undefined {
  const parts = (source: MappedSource): number => Object.keys(source.logSource).length;
  return sources
    .filter((source) =>
      Object.entries(source.logSource).every(([key, value]) => logSource[key as keyof LogSource] === value),
    )
    .toSorted((a, b) => parts(b) - parts(a))
    .reduce<MappedSource | undefined>((best, one) => (best === undefined ? one : addSource(best, one)), undefined);
}

/** Returns `first` with the condition and the fields of `second`, if `second` has a part of the log source that `first` does not have. */
function addSource(first: MappedSource, second: MappedSource): MappedSource {
  if (Object.keys(second.logSource).every((key) => key in first.logSource)) return first;
  return {
    logSource: { ...first.logSource, ...second.logSource },
    where: first.where && second.where ? allOf([first.where, second.where]) : (first.where ?? second.where),
    fields: { ...second.fields, ...first.fields },
  };
}

function findDataset(shape: Shape, kind: string, datasets: readonly KnownDataset[]): KnownDataset | undefined {
  const preferred = datasets.find(({ name }) => name === shape.tables[kind]);
  if (!shape.recognizedBy) return preferred;
  return preferred && hasForm(shape, preferred) ? preferred : datasets.find((dataset) => hasForm(shape, dataset));
}

const hasForm = ({ recognizedBy }: Shape, { columns }: KnownDataset): boolean =>
  recognizedBy?.every((name) => columns.has(name.toLowerCase())) ?? false;

/**
 * Returns whether a dataset can have events of a product. It cannot if its name and its fields are those of forms of other products: flat events in
 * `windows` are not those of Sysmon for Linux, which have the same fields.
 */
function canHaveProduct(
  list: readonly Mapping[],
  dataset: KnownDataset,
  { product }: LogSource,
  kind: string,
): boolean {
  const products = list.flatMap(({ sources, shapes }) =>
    shapes
      .filter((shape) => shape.tables[kind] === dataset.name && hasForm(shape, dataset))
      .flatMap((shape) => [...sources, ...shape.sources].map(({ logSource }) => logSource.product)),
  );
  return products.length === 0 || products.includes(product);
}

/** Returns the condition of a log source with that of its product, if the dataset has a field of it. */
function addProduct(
  { where, names }: RuleMapping,
  isProduct: Expression | undefined,
  { columns }: KnownDataset,
): Expression | null {
  const fields = isProduct ? listFields(isProduct).flatMap((field) => (field === null ? [] : names(field))) : [];
  if (!isProduct || !fields.some((name) => columns.has(name.toLowerCase()))) return where;
  return where ? allOf([where, isProduct]) : isProduct;
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
    names: (field) => toNames(findEntry(tables, field) ?? field),
    isNested: (field) => {
      const entry = findEntry(tables, field);
      return typeof entry === 'object' && 'within' in entry;
    },
    entity: shape.entity ?? [],
    shape: shape.name,
    isMapped: true,
  };
}

type FieldEntry = FieldNames[string];

function findEntry(tables: readonly FieldNames[], field: string): FieldEntry | undefined {
  for (const table of tables)
    for (const [name, entry] of Object.entries(table)) if (name.toLowerCase() === field.toLowerCase()) return entry;
  for (const table of tables) if (table['*']) return toNames(table['*']).map((name) => name.replace('*', field));
  return undefined;
}

/** Returns the names in the logs, or that of the JSON with the field. */
export const toNames = (entry: FieldEntry): string[] =>
  typeof entry === 'object' && 'within' in entry ? [entry.within] : [entry].flat();

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

const keys = ['product', 'category', 'service'] as const;

/** Returns a log source as text, such as `windows/process_creation`. */
export const logSourceName = (source: LogSource): string =>
  keys.flatMap((key) => (source[key] === undefined ? [] : [source[key]])).join('/');

/** Returns the error for a log source that no mapping knows, with the nearest known names. */
function describeUnknownSource(list: readonly Mapping[], logSource: LogSource, kind: string): string {
  const advice = 'Correct it, add a mapping, or allow unknown log sources';
  const name = logSourceName(logSource);
  const known = list.flatMap(({ sources, shapes }) => [...sources, ...shapes.flatMap((shape) => shape.sources)]);
  if (known.some((one) => name === logSourceName(one.logSource) && isWithin(one.logSource, logSource)))
    return `no mapping has the log source ${name} for ${kind}. ${advice}`;
  const sources = known.map((one) => one.logSource);
  return `the log source ${name} is unknown${nearestParts(sources, logSource) ?? didYouMean(name, new Set(sources.map(logSourceName)))} ${advice}`;
}

const isWithin = (part: LogSource, whole: LogSource): boolean =>
  keys.every((key) => (part[key] ?? whole[key]) === whole[key]);

/**
 * Returns the known products, categories and services that are nearest to an unknown one, of log sources that are the same otherwise, or else that
 * have the same product.
 */
function nearestParts(sources: readonly LogSource[], logSource: LogSource): string | undefined {
  const { product } = logSource;
  for (const key of ['category', 'service', 'product'] as const) {
    const { [key]: wanted, ...others } = logSource;
    if (wanted === undefined) continue;
    for (const same of [others, ...(product !== undefined && key !== 'product' ? [{ product }] : [])]) {
      const siblings = sources.filter((one) => isWithin(same, one));
      const values = new Map(
        siblings.flatMap((one) =>
          keys.filter((other) => one[other] !== undefined && !(other in same)).map((other) => [one[other]!, other]),
        ),
      );
      if (values.get(wanted) === key) break;
      // The name itself may belong to another key.
      const near = [...(values.has(wanted) ? [wanted] : []), ...nearestNames(wanted, values.keys())].slice(0, 3);
      if (near.length > 0)
        return `; did you mean ${near.map((value) => `${values.get(value)!}: ${value}`).join(' or ')}?`;
    }
  }
  return undefined;
}
