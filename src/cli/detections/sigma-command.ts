import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ConvertedRule } from '../../detection/sigma/convert/convert-rules.ts';
import { convertTask } from '../../detection/sigma/convert/convert-task.ts';
import { findConnector, siemKinds } from '../../detection/siem/connectors/registry.ts';
import { createServiceCall } from '../../detection/as-code/service-client.ts';
import type { ImportProgress, ImportResult } from '../../detection/detections/bulk/bulk.schema.ts';
import { rejectArguments } from '../support/body-arguments.ts';
import { createProgress, printDocument, printError, printLines, printText } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';
import { readServiceAccess } from '../support/service-access.ts';
import { showLine } from '../../platform/lib/text/show-text.ts';

type ConvertOptions = {
  to?: string | undefined;
  timeColumn?: string | undefined;
  mappings?: string[] | undefined;
  allowUnknown?: boolean | undefined;
};
type ImportOptions = {
  target?: string | undefined;
  enable?: boolean | undefined;
  slotsOnly?: boolean | undefined;
  allowUnknown?: boolean | undefined;
  complete?: boolean | undefined;
  dryRun?: boolean | undefined;
};

function listAllRuleFiles(paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => listRuleFiles(path));
  if (files.length === 0) throw new UsageError(`There is no .yml or .yaml file in ${paths.join(', ')}.`);
  return files;
}

/** Returns the rule files of a path in order. Links are not followed. */
function listRuleFiles(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })) throw new UsageError(`${path} does not exist.`);
  if (lstatSync(path).isFile()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.isDirectory()) return listRuleFiles(join(path, entry.name));
      return entry.isFile() && /\.ya?ml$/.test(entry.name) ? [join(path, entry.name)] : [];
    });
}

type FileRules = { file: string; converted: ConvertedRule[]; lineOf: (line: number) => string };

/** Converts all files together, so that filters and correlation rules find the rules of other files. */
function convertFiles(files: readonly string[], values: ConvertOptions): FileRules {
  const kind = siemKinds.find((one) => one === (values.to ?? 'local'));
  if (!kind) throw new UsageError(`--to needs one of ${siemKinds.join(', ')}.`);
  const { text, lineOf } = joinFiles(files);
  return {
    file: '',
    lineOf,
    converted: convertTask({
      rules: text,
      kind,
      datasets: null,
      timeColumn: values.timeColumn ?? findConnector(kind).timeField,
      mappingFolders: (values.mappings ?? []).map((folder) => resolve(folder)),
      allowUnknown: values.allowUnknown,
    }),
  };
}

/** Returns the documents of all files as one text, and a function that maps a line of that text to its file and line. */
function joinFiles(files: readonly string[]): { text: string; lineOf: (line: number) => string } {
  const starts: { file: string; line: number }[] = [];
  let line = 1;
  const texts = files.map((file) => {
    const text = `---\n${readFileSync(file, 'utf8').replace(/^\ufeff?(?:---\r?\n)?/, (head) => (head.includes('---') ? '\n' : ''))}\n`;
    starts.push({ file, line: line + 1 });
    line += text.split('\n').length - 1;
    return text;
  });
  const lineOf = (at: number): string => {
    const start = starts.findLast((one) => one.line <= at) ?? starts[0]!;
    return `${start.file}:${at - start.line + 1}`;
  };
  return { text: texts.join(''), lineOf };
}

/** Reports the rules of files and folders that cannot be converted. Exit code 1 if there is one. */
export async function checkSigma(paths: readonly string[], values: ConvertOptions): Promise<number> {
  const { converted, lineOf } = convertFiles(listAllRuleFiles(paths), values);
  const count = printProblems(converted, lineOf);
  printLines(`${converted.length} rules: ${converted.length - count} converted, ${count} not`);
  return count > 0 ? 1 : 0;
}

/** Prints every rule that was not converted, and returns their number. */
function printProblems(converted: readonly ConvertedRule[], lineOf: (line: number) => string): number {
  const failed = converted.filter(({ result }) => result.status !== 'converted');
  for (const { result } of failed)
    for (const { line, message } of result.errors)
      printError(`${lineOf(line)}: ${result.status}: ${result.title === null ? '' : `${result.title}: `}${message}`);
  return failed.length;
}

/** Prints the queries of rules. Exit code 1 if one of them is invalid or cannot be converted. */
export async function convertSigma(
  paths: readonly string[],
  values: ConvertOptions & { json?: boolean | undefined },
): Promise<number> {
  const { converted, lineOf } = convertFiles(listAllRuleFiles(paths), values);
  const count = printProblems(converted, lineOf);
  if (values.json)
    printText(
      JSON.stringify(
        converted.map(({ result }) => result),
        null,
        2,
      ),
    );
  else
    for (const { result } of converted)
      if (result.query !== null)
        printDocument(`-- ${showLine(result.title?.replaceAll(/\s+/g, ' ') ?? '')}\n${result.query};\n`);
  return count > 0 ? 1 : 0;
}

/** Fewer rules are stored before anybody wonders. */
const rulesShownMin = 200;

/** Makes or updates detections of a running service. Exit code 1 if one of them failed. */
export async function importSigma(paths: readonly string[], values: ImportOptions): Promise<number> {
  const files = listAllRuleFiles(paths);
  const access = readServiceAccess();
  const { text: rules, lineOf } = joinFiles(files);
  const { target, enable = false, allowUnknown = false, dryRun = false } = values;
  const body = {
    rules,
    enable,
    allowUnknown,
    dryRun,
    ...(values.complete ? { complete: true } : {}),
    ...(values.slotsOnly ? { continuous: false } : {}),
    ...(target === undefined ? {} : { target }),
  };
  const reportRules = createProgress(process.stderr, 'rules');
  const onProgress = (progress: unknown): void => {
    const { phase, rulesDone, rulesTotal } = progress as ImportProgress;
    if (rulesTotal !== null && rulesTotal > rulesShownMin) reportRules(rulesDone, rulesTotal, phase);
  };
  const call = createServiceCall(access);
  const { results, proposedDeletions = [] } = (
    await call<ImportResult>('POST', '/api/detections/import?format=sigma', { body, onProgress }).catch(
      rejectArguments({ rules: 'PATH', target: `--target ${target}` }),
    )
  ).body;
  for (const { outcome, name, detail, kept = [] } of results) {
    if (outcome === 'failed')
      printError(
        `failed     ${name}: ${detail?.replaceAll(/line (\d+)/g, (_all, line: string) => lineOf(Number(line)))}`,
      );
    for (const { field, before, after } of kept)
      printLines(
        `kept       ${name}: ${field} is yours (${JSON.stringify(before)}), the rule has ${JSON.stringify(after)}`,
      );
  }
  for (const { name, id } of proposedDeletions)
    printLines(`not sent   ${name}: delete the detection ${id} if you no longer want it`);
  const count = (outcome: string): string =>
    `${results.filter((result) => result.outcome === outcome).length} ${outcome}`;
  printLines(['created', 'updated', 'unchanged', 'failed'].map(count).join(', '));
  return results.some(({ outcome }) => outcome === 'failed') ? 1 : 0;
}
