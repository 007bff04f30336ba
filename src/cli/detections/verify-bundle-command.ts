import { readFileSync } from 'node:fs';
import { verifyBundle, type BundleVerification } from '../../detection/incident-reports/verify-bundle.ts';
import { UsageError } from '../support/failures.ts';
import { printResult } from '../support/output.ts';

/** Checks an evidence bundle without a service. Returns exit code 1 if something in it does not hold. */
export async function verifyBundleCommand(file: string, { json }: { json?: boolean | undefined }): Promise<number> {
  const result = verifyBundle(readBundleFile(file));
  printResult(json, result, describe(result));
  return result.faults.length === 0 ? 0 : 1;
}

function readBundleFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new UsageError(`The file ${file} cannot be read.`);
  }
}

function describe({ incidentId, head, files, sentences, removed, faults }: BundleVerification): string[] {
  const state = faults.length === 0 ? 'intact' : 'BROKEN';
  const place = head === null ? 'no audit entry' : `audit entry ${head.sequence}:${head.hash}`;
  return [
    `incident ${incidentId ?? 'unknown'}  ${state}  ${files} files, ${sentences} sentences, ${place}`,
    ...removed.map((one) => `  removed before the export: ${one}`),
    ...faults.map((fault) => `  ${fault}`),
  ];
}
