import type { TestCase } from '../../../detection/detections/test-cases/test-cases.schema.ts';
import type { Draft } from '../draft.ts';
import { eventOf, logKinds, partSql, shapeOf, sqlText, type Dataset, type Shape } from '../drafting/log-datasets.ts';
import { templates } from './registry.ts';
import type { Sample, Template } from './template.ts';

/** The template over a dataset, for one of its techniques; undefined where the dataset lacks a column that it needs. */
export function compileTemplate(template: Template, dataset: Dataset, technique: string): Draft | undefined {
  const shape = shapeOf(dataset, template.kind);
  const needs = [...(template.needs ?? []), ...Object.keys(template.where)];
  if (!shape || needs.some((part) => !(part in shape.columns))) return undefined;
  const { name, severity, category = 'custom', benign } = template;
  return {
    key: `template:${template.id}:${dataset.name}`,
    basis: { kind: 'template', id: template.id },
    technique,
    reads: dataset.name,
    body: {
      name: `${name} (${dataset.name})`,
      description: `Looks in ${dataset.name} for ${technique}. Severity ${severity}.`,
      detectionCategory: category,
      detectionCadence: 'hourly',
      entityField: 'entity',
      systemPrompt: `You judge one case of: ${name} (${technique}).
Benign: ${benign}.
Say what was done, by whom and where, what speaks for and against an attack, and what to look at next.`,
      detectionQuery: queryOf(template, shape, technique),
      tags: ['template', `attack.${technique.toLowerCase()}`],
    },
    tests: testsOf(template, shape),
  };
}

/** Every template that names a technique, over every dataset that it can read. */
export function templatesFor(technique: string, datasets: readonly Dataset[]): Draft[] {
  return templates
    .filter(({ techniques }) => techniques.includes(technique))
    .flatMap((template) => datasets.flatMap((dataset) => compileTemplate(template, dataset, technique) ?? []));
}

function queryOf(template: Template, shape: Shape, technique: string): string {
  const sql = (part: string): string => partSql(shape, part);
  const { main, entities } = logKinds[template.kind];
  const known = entities.filter((part) => part in shape.columns).map(sql);
  const entity = known.length > 1 ? `coalesce(${known.join(', ')})` : known[0]!;
  const marks = `${sqlText(technique)} AS technique, ${sqlText(template.severity)} AS severity`;
  const from = `FROM "${shape.dataset}"\nWHERE ${conditionOf(template, shape)}`;
  const counted =
    template.having?.(sql, shape) ?? (template.category === 'first_occurrence' ? newness(shape, main) : undefined);
  if (!counted) {
    const parts = Object.keys(shape.columns).map((part) => `${sql(part)} AS ${part}`);
    return `SELECT ${entity} AS entity, ${parts.join(', ')}, _id, _time, ${marks}\n${from}`;
  }
  const having = counted.condition === 'true' ? '' : `\nHAVING ${counted.condition}`;
  const times = 'min(_time) AS first_seen, max(_time) AS last_seen, list(_id ORDER BY _time, _id)[1:20] AS _ids';
  return `SELECT ${entity} AS entity, ${counted.columns}, ${times}, ${marks}\n${from}\nGROUP BY ALL${having}`;
}

/** What is new is the entity with what it did; every further column would make everything new. */
function newness(shape: Shape, main: string): { columns: string; condition: string } {
  const parts = [main, 'target'].filter((part) => part in shape.columns);
  return { columns: parts.map((part) => `${partSql(shape, part)} AS ${part}`).join(', '), condition: 'true' };
}

function conditionOf({ where, except = {}, kind }: Template, shape: Shape): string {
  const matches = (part: string, pattern: string): string =>
    `regexp_matches(lower(${partSql(shape, part)}), ${sqlText(pattern)})`;
  const parts = [
    ...Object.entries(where).map(([part, pattern]) => matches(part, pattern)),
    ...Object.entries(except)
      .filter(([part]) => part in shape.columns)
      .map(([part, pattern]) => `NOT coalesce(${matches(part, pattern)}, false)`),
  ];
  return parts.length > 0 ? parts.join('\n  AND ') : `${partSql(shape, logKinds[kind].main)} IS NOT NULL`;
}

function testsOf({ match, noMatch, kind, category }: Template, shape: Shape): TestCase[] {
  const bad = match.map((sample, n) => whole(sample, kind, `match-${n}`));
  const good = noMatch.map((sample, n) => whole(sample, kind, `quiet-${n}`));
  const events = (list: Record<string, unknown>[]) => list.map((parts) => eventOf(shape, parts));
  const { entities } = logKinds[kind];
  const named = bad.map((parts) =>
    String(
      entities.map((part) => (part in shape.columns ? parts[part] : undefined)).find((value) => value !== undefined),
    ),
  );
  const quiet = { name: 'Leaves what only looks like it alone', events: events(good), expect: [] };
  // Of a baseline one window alone names nobody.
  if (category === 'baseline_anomaly') return [quiet];
  return [{ name: 'Finds it', events: events([...bad, ...good]), expect: [...new Set(named)].toSorted() }, quiet];
}

/** The sample with an entity, where it names none. */
function whole(sample: Sample, kind: Template['kind'], entity: string): Record<string, unknown> {
  const { main, entities } = logKinds[kind];
  const parts = typeof sample === 'string' ? { [main]: sample } : sample;
  const named = entities.filter((part) => part !== main).map((part) => [part, entity] as const);
  return { ...Object.fromEntries(named), ...parts };
}
