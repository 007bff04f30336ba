import { type SiemKind, findConnector } from '../../siem/connectors/registry.ts';
import { loadMappings } from '../mappings/load-mappings.ts';
import type { KnownDataset } from '../mappings/map-rule.ts';
import { convertRules, type ConvertedRule } from './convert-rules.ts';

/** A text to convert. `datasets`: those that exist with their columns, or null if that is unknown. `mappingFolders`: the user's own mappings.
 * `allowUnknown`: convert rules of log sources that no mapping knows. */
export type ConvertTask = {
  rules: string;
  kind: SiemKind;
  datasets: { name: string; columns: string[] }[] | null;
  timeColumn: string;
  mappingFolders: readonly string[];
  allowUnknown?: boolean | undefined;
};

const queryCharsMax = 100_000;

/** Converts rules in the calling thread. */
export function convertTask(task: ConvertTask): ConvertedRule[] {
  const { rules, kind, datasets, timeColumn, mappingFolders, allowUnknown = false } = task;
  const known = datasets?.map(({ name, columns }): KnownDataset => ({
    name,
    columns: new Set(columns.map((column) => column.toLowerCase())),
  }));
  return convertRules(rules, {
    mappings: loadMappings(mappingFolders),
    kind,
    dialect: findConnector(kind).dialect,
    datasets: known ?? null,
    queryCharsMax,
    timeColumn,
    allowUnknown,
  });
}
