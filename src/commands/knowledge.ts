import { loadConfig } from '../config.ts';
import { updateLargeLists } from '../ingest/knowledge/large-lists.ts';
import { readArgs, UsageError } from './usage.ts';

const usage = 'tocsin knowledge update [--from FILE|DIR] [--json]';
const options = { from: { type: 'string' }, json: { type: 'boolean' } } as const;

/** Takes the large lists of harmless values; the extraction uses them from the next start. */
export async function knowledgeCommand(args: string[]): Promise<number> {
  const { values, words } = readArgs(args, options, usage);
  if (words.length !== 1 || words[0] !== 'update') throw new UsageError(`Usage: ${usage}`);
  const { dataDir, fetchAllow } = loadConfig();
  const taken = await updateLargeLists({ dataDir, from: values.from, fetchAllow });
  console.log(
    values.json
      ? JSON.stringify(taken)
      : `${taken.lists} lists with ${taken.entries} entries in ${dataDir}/knowledge; used from the next start.`,
  );
  return 0;
}
