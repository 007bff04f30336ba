import { existsSync, statSync } from 'node:fs';
import { applySteps } from '../detection/as-code/apply-plan.ts';
import { serviceAt, type Service } from '../detection/as-code/service-client.ts';
import { hashOfFields, type Fields } from '../detection/as-code/detection-fields-file.ts';
import type { DetectionFile } from '../detection/as-code/detection-file.ts';
import { readFolder, readLock } from '../detection/as-code/folder.ts';
import { followRenames, planOf, type Step } from '../detection/as-code/plan.ts';
import { printPlan } from '../detection/as-code/print-plan.ts';
import { pullInto } from '../detection/as-code/pull-detections.ts';
import { loadConfig } from '../config.ts';
import { readArgs, UsageError } from './read-args.ts';

const options = {
  force: { type: 'boolean' },
  prune: { type: 'boolean' },
  check: { type: 'boolean' },
  validate: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
} as const;
type Values = ReturnType<typeof readArgs<typeof options>>['values'];

const changesFound = 3;

/** Writes the detections of the service into a folder. Exit code 1 where a file changed on both sides and was left. */
export async function pullCommand(args: string[]): Promise<number> {
  const { folder, values } = read(args, ['force'], 'tocsin pull DIR [--force]');
  const isThere = existsSync(folder);
  if (isThere && !statSync(folder).isDirectory()) throw new UsageError(`${folder} is no folder.`);
  const known = await service(values).list();
  const files = isThere ? readFolder(folder) : new Map<string, DetectionFile>();
  const lock = isThere ? followRenames(fieldsOf(files), known, readLock(folder)) : {};
  const { written, removed, kept } = pullInto(folder, { files, lock, known, force: values.force ?? false });
  for (const name of written) console.log(`written  ${name}`);
  for (const name of removed) console.log(`removed  ${name}`);
  for (const { file } of kept)
    console.error(`kept     ${file}: changed here and in the service; --force takes the service's`);
  console.log(`${known.length} detections, ${written.length} written, ${removed.length} removed, ${kept.length} kept`);
  return kept.length > 0 ? 1 : 0;
}

/** Prints what `apply` would do. Exit code 1 where there are conflicts, with `--check` 3 where there is anything to do. */
export async function planCommand(args: string[]): Promise<number> {
  const { folder, values } = read(args, ['force', 'prune', 'check'], 'tocsin plan DIR [--prune] [--force] [--check]');
  const { steps } = await plan(folder, values, service(values));
  console.log(printPlan(steps));
  return codeOf(steps, values);
}

/** Brings the service to what the folder says. Where there is a conflict nothing is done, exit code 1. */
export async function applyCommand(args: string[]): Promise<number> {
  const usage = 'tocsin apply DIR [--dry-run] [--prune] [--force] [--validate]';
  const { folder, values } = read(args, ['force', 'prune', 'validate', 'dry-run'], usage);
  const there = service(values);
  const { steps, lock } = await plan(folder, values, there);
  console.log(printPlan(steps));
  const code = codeOf(steps, {});
  if (values['dry-run'] || code !== 0) {
    if (code !== 0) console.error('Nothing was applied: settle the conflicts first.');
    return code;
  }
  const { done, failed } = await applySteps(folder, there, lock, steps);
  for (const { file, reason } of failed) console.error(`${file}: ${reason}`);
  console.log(`${done} applied${failed.length > 0 ? `, ${failed.length} failed` : ''}`);
  return failed.length > 0 ? 1 : 0;
}

async function plan(folder: string, { prune = false, force = false }: Values, there: Service) {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw new UsageError(`There is no folder ${folder}.`);
  const files = fieldsOf(readFolder(folder));
  const held = readLock(folder);
  const detections = await there.list();
  const lock = followRenames(files, detections, held);
  return { lock, steps: planOf(files, detections, lock, { prune, force }) };
}

const fieldsOf = (files: ReadonlyMap<string, DetectionFile>): Map<string, Fields> =>
  new Map([...files].map(([name, { fields }]) => [name, fields]));

function codeOf(steps: readonly Step[], { check }: Pick<Values, 'check'>): number {
  if (steps.some(({ kind }) => kind === 'conflict')) return 1;
  return check && steps.some(({ kind }) => ['create', 'update', 'delete'].includes(kind)) ? changesFound : 0;
}

function read(args: string[], allowed: (keyof Values)[], usage: string): { folder: string; values: Values } {
  const known = Object.fromEntries(allowed.map((name) => [name, options[name]])) as typeof options;
  const { values, words } = readArgs(args, known, usage);
  const [folder] = words;
  if (folder === undefined || words.length > 1) throw new UsageError(`Usage: ${usage}`);
  return { folder, values };
}

function service({ validate = false }: Values): Service {
  const { url, apiKey: key } = loadConfig();
  if (key === undefined)
    throw new UsageError(
      'Set TOCSIN_API_KEY to a key with detections:read and detections:write, and TOCSIN_URL to the service.',
    );
  return serviceAt({ url, key, validate }, (one, other) => hashOfFields(one) === hashOfFields(other));
}
