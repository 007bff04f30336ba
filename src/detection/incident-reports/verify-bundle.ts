import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { readZip, isZip } from '../../platform/lib/storage/zip.ts';
import { hashAuditEntry } from '../../platform/orgs/audit/audit-chain.store.ts';
import { arrangeStory, composeStory } from './read-report.ts';
import { exportAction, listRemoved, listRemovedFromStory, sha256 } from './evidence-bundle.ts';
import { BundledEntry, BundledEvidence, BundledStory, IncidentReport, Manifest } from './incident-reports.schema.ts';

const bounds = { entriesMax: 1_000, entryMaxBytes: 100_000_000, totalMaxBytes: 500_000_000 };

/** The result of a check. `head` is the audit entry of the bundle, which can be compared with the audit log of the organization. */
export type BundleVerification = {
  incidentId: string | null;
  head: { sequence: number; hash: string } | null;
  files: number;
  sentences: number;
  removed: string[];
  faults: string[];
};

/**
 * Checks an evidence bundle without the service: that every file has the hash of the manifest, that the manifest has that of its audit entry and the
 * entry the hash of its place in the chain, that rows have the hash of their observation, that claims cite what stands in these rows, and that the story
 * follows from the hits. Throws an `ExternalError` for what is no archive.
 */
export function verifyBundle(bytes: Buffer): BundleVerification {
  const result: BundleVerification = { incidentId: null, head: null, files: 0, sentences: 0, removed: [], faults: [] };
  const { faults } = result;
  const entries = isZip(bytes) ? readZip(bytes, () => true, bounds) : [];
  const files = new Map(entries.map(({ name, bytes: content }) => [name, content]));
  /** Returns a file of the bundle. Reports one that is missing or has another form. */
  const read = <T>(name: string, schema: z.ZodType<T>): T | undefined => {
    const found = files.get(name);
    if (!found) return void faults.push(`${name} is missing.`);
    try {
      return schema.parse(JSON.parse(found.toString()));
    } catch (error) {
      const issue = error instanceof z.ZodError ? error.issues[0] : undefined;
      const detail = issue ? `${issue.path.join('.') || 'its content'} ${issue.message}` : 'it is not JSON';
      return void faults.push(`${name} cannot be read: ${detail}.`);
    }
  };
  const manifest = read('manifest.json', Manifest);
  if (!manifest) return result;
  Object.assign(result, { incidentId: manifest.incidentId, removed: manifest.removed, files: files.size });
  for (const [name, hash] of Object.entries(manifest.files))
    if (!files.has(name)) faults.push(`${name} is missing.`);
    else if (sha256(files.get(name)!) !== hash) faults.push(`${name} was changed.`);
  for (const name of files.keys())
    if (!Object.hasOwn(manifest.files, name) && name !== 'manifest.json' && name !== 'audit.json')
      faults.push(`${name} is not part of the bundle.`);
  const entry = read('audit.json', BundledEntry);
  if (entry) {
    faults.push(...checkEntry(entry, { ...manifest, hash: sha256(files.get('manifest.json')!) }));
    result.head = { sequence: Number(entry.sequence), hash: entry.hash };
  }
  const report = read('report.json', IncidentReport);
  const hits = (report?.hits ?? []).flatMap(({ id }) => read(`hits/${id}.json`, BundledEvidence) ?? []);
  for (const one of hits) faults.push(...checkHit(one, manifest.removed));
  if (report) {
    result.sentences = report.story.paragraphs.reduce((sum, { sentences }) => sum + sentences.length, 0);
    const told = hits.map(({ hit }) => hit);
    const written = report.story.writtenBy === null ? undefined : read('story.json', BundledStory);
    const story = written ? arrangeStory(report.incident, told, written.story) : composeStory(report.incident, told);
    if (!isDeepStrictEqual(story?.paragraphs, report.story.paragraphs))
      faults.push(`report.json tells another story than ${written ? 'the run that wrote it' : 'its hits'}.`);
    faults.push(
      ...listRemovedFromStory(report, hits)
        .filter((cell) => !manifest.removed.includes(cell))
        .map((cell) => `report.json: a sentence cites what does not stand there: ${cell}.`),
    );
  }
  return result;
}

function checkEntry(
  entry: BundledEntry,
  manifest: { incidentId: string; organizationId: string; hash: string },
): string[] {
  const { hash, previous, ...hashed } = entry;
  const isChained = hashAuditEntry(Buffer.from(previous, 'hex'), hashed).toString('hex') === hash;
  const expected = JSON.stringify({ id: manifest.incidentId, manifest: manifest.hash });
  const isOfBundle =
    entry.action === exportAction && entry.organization_id === manifest.organizationId && entry.after === expected;
  return [
    ...(isChained ? [] : ['audit.json was changed: it does not have its hash.']),
    ...(isOfBundle ? [] : ['audit.json records another bundle.']),
  ];
}

function checkHit({ hit, evidence }: BundledEvidence, removed: readonly string[]): string[] {
  const changed = evidence.observations.filter(({ rows, hash }) => sha256(JSON.stringify(rows)) !== hash);
  return [
    ...changed.map(({ id }) => `hits/${hit.id}.json: the rows of ${id} do not have the hash of the observation.`),
    ...listRemoved({ hit, evidence })
      .filter((cell) => !removed.includes(cell))
      .map((cell) => `hits/${hit.id}.json: a claim cites what does not stand there: ${cell}.`),
  ];
}
