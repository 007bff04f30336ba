import { loadConfig } from '../config.ts';
import { updateReferenceData, type ReferenceDataUpdate } from '../feed/reference-data/update/update-reference-data.ts';
import { printResult, readArgs, UsageError } from './read-args.ts';

const usage = 'tocsin knowledge update [--from FILE|DIR] [--json]';
const options = { from: { type: 'string' }, json: { type: 'boolean' } } as const;

/** Installs the newest ATT&CK data, names and lists of harmless values, which take effect at the next start. */
export async function knowledgeCommand(args: string[]): Promise<number> {
  const { values, positionals } = readArgs(args, options, usage);
  if (positionals.length !== 1 || positionals[0] !== 'update') throw new UsageError(`Usage: ${usage}`);
  const { dataDir, fetchAllow } = loadConfig();
  const update = await updateReferenceData({ dataDir, from: values.from, fetchAllow });
  return printResult(values.json, update, resultLines(update, dataDir).join('\n'));
}

function resultLines({ attack, names, warninglists, absent }: ReferenceDataUpdate, dataDir: string): string[] {
  return [
    attack &&
      `ATT&CK ${attack.version ?? ''}: ${attack.techniques} techniques, ${attack.groups} groups, ${attack.software} malware and tools`,
    names && `Names: ${names.names} with ${names.aliases} aliases`,
    warninglists && `Harmless values: ${warninglists.lists} lists with ${warninglists.entries} entries`,
    ...absent.map((url) => `No longer published: ${url}`),
    `Installed in ${dataDir}/knowledge. Takes effect at the next start.`,
  ].filter((line) => line !== undefined);
}
