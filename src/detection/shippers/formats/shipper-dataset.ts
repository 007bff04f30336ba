import { isDatasetName } from '../../log-store/catalog/dataset-name.ts';
import { getValueAtPath } from '../../log-ingest/events/event-time.ts';

/** The end of an index name that does not belong to its subject: a version, a date, a week or the number of a rollover. */
const suffix = /[-_.](?:v?\d+(?:[._]\d+)*(?:\.x)?|w\d{2})$/;
/** Type, dataset and namespace. */
const dataStream = /^(?:\.ds-)?(?:logs|metrics|traces|synthetics)-([^-\d][^-]*)-./;
const indexCharsMax = 255;

/** Returns the dataset that a text names: in lower case, with `_` instead of every other character than letters and digits. */
export function toDatasetName(text: string, fallback = 'events'): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 55);
  const named = /^[a-z]/.test(name) ? name : name === '' ? fallback : `d_${name}`;
  return isDatasetName(named) ? named : `${named}_events`;
}

/**
 * Returns the dataset of an index: the middle of a data stream's name (`logs-nginx.access-default`: nginx_access), otherwise the name
 * without dates, versions and rollover numbers at its end (`filebeat-8.15.0-2026.11.23-000001`: filebeat).
 */
export function datasetOfIndex(index: string): string {
  const lower = index.slice(0, indexCharsMax).toLowerCase();
  const stream = dataStream.exec(lower);
  if (stream) return toDatasetName(stream[1]!);
  let rest = lower;
  while (suffix.test(rest)) rest = rest.replace(suffix, '');
  return toDatasetName(rest);
}

/** Returns the dataset that an event in the Elastic Common Schema names, if it does: `data_stream.dataset`, or `event.dataset`. */
export function findEcsDataset(event: Record<string, unknown>): string | undefined {
  for (const path of ['data_stream.dataset', 'event.dataset']) {
    const value = getValueAtPath(event, path);
    if (typeof value === 'string' && value !== '' && value !== 'generic' && value.length <= 200)
      return toDatasetName(value);
  }
  return undefined;
}

/** Returns the dataset of an event that nothing names: `ocsf` in the Open Cybersecurity Schema Framework, otherwise that of the protocol. */
export function datasetOfUnnamed(event: Record<string, unknown>, protocol: string): string {
  const isOcsf = Number.isInteger(event['class_uid']) && typeof getValueAtPath(event, 'metadata.version') === 'string';
  return isOcsf ? 'ocsf' : protocol;
}
