import { loadConfig } from '../../config.ts';
import { updateReferenceData, type ReferenceDataUpdate } from '../../feed/reference-data/update-reference-data.ts';
import { createProgress } from '../progress.ts';
import { printResult } from '../output.ts';

type KnowledgeOptions = { from?: string | undefined; json?: boolean | undefined };

/** Installs the newest ATT&CK data, names and lists of harmless values, which take effect at the next start. */
export async function knowledgeCommand({ from, json }: KnowledgeOptions): Promise<number> {
  const { dataDir, fetchAllow } = loadConfig();
  const reportProgress = createProgress(process.stderr, 'documents');
  const update = await updateReferenceData({ dataDir, from, fetchAllow, reportProgress });
  return printResult(json, update, resultLines(update, dataDir));
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
