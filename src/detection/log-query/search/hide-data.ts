import {
  containsHiddenField,
  hidesNothing,
  isHiddenDataset,
  isHiddenField,
  type HiddenData,
} from '../../siem/hidden-data.ts';
import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import { queryNotAllowed } from '../../log-engine/engine-failures.ts';
import { keysOf, parseSteps } from '../../log-engine/json-paths.ts';
import type { InspectedQuery } from './inspect-query.ts';
import type { DatasetContents } from './search-plan.ts';

/**
 * Returns the contents that a query may read without what is hidden: no column and no event has a hidden field, so `*`, whole rows and JSON readers
 * cannot return one, nor compare with it. Throws `query_not_allowed` for a query that names a hidden dataset or field, to say why it finds nothing.
 */
export function hideData(
  { inspection, sources, lists }: InspectedQuery,
  contents: DatasetContents,
  hidden: HiddenData | undefined,
): DatasetContents {
  if (!hidden || hidesNothing(hidden)) return contents;
  const dataset = sources.find((source) => isHiddenDataset(source.dataset, hidden))?.dataset;
  if (dataset !== undefined) throw queryNotAllowed(`The organization keeps the dataset ${dataset} from models.`);
  const paths = inspection.jsonPaths.flatMap((path) => keysOf(parseSteps(path) ?? []).join('.'));
  const columns = inspection.columns.flatMap((names) => [names.join('.'), names.slice(1).join('.')]);
  const field = [...paths, ...columns].find((name) => isHiddenField(name, hidden));
  const listed = lists.flatMap((list) => list.columns).find((name) => isHiddenField(name, hidden));
  const kept = field ?? listed;
  if (kept !== undefined) throw queryNotAllowed(`The organization keeps the field ${kept} from models.`);
  const fields = [...contents.fields].map(([name, list]) => [name, hideFields(list, '', hidden)] as const);
  const otherDatasets = contents.otherDatasets.filter((name) => !isHiddenDataset(name, hidden));
  return { ...contents, fields: new Map(fields), otherDatasets, hiddenFields: hidden.fields };
}

function hideFields(fields: readonly CatalogField[], prefix: string, hidden: HiddenData): CatalogField[] {
  return fields
    .filter(({ name }) => !isHiddenField(prefix + name, hidden))
    .map((field) => {
      const path = prefix + field.name;
      return containsHiddenField(path, hidden)
        ? { ...field, nested: hideFields(field.nested, `${path}.`, hidden) }
        : field;
    });
}
