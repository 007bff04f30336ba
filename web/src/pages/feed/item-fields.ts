import type { FeedItem, Indicator, ItemStatus } from '../../api/feed.ts';
import type { Severity } from '../../ui/labels/severity.tsx';

type Technique = FeedItem['classification']['attack'][number];

/** The severity as the organization sees it. */
export const severityOf = (item: FeedItem): Severity => item.tenantOverrides?.severity ?? item.event.severity;

/** The status as the organization sees it. */
export const statusOf = (item: FeedItem): ItemStatus => item.tenantOverrides?.status ?? item.event.status;

/** All indicators, with the statuses that the organization gave them. */
export function indicatorsOf(item: FeedItem): Indicator[] {
  const overrides = new Map(
    item.tenantOverrides?.indicators?.map(({ type, value, status }) => [`${type}\n${value}`, status]),
  );
  return Object.values(item.iocs)
    .flat()
    .map((indicator) => ({
      ...indicator,
      status: overrides.get(`${indicator.type}\n${indicator.normalizedValue}`) ?? indicator.status,
    }));
}

export const techniqueIdOf = ({ technique, subTechnique }: Technique): string => subTechnique ?? technique;

/** The passage that a reference such as `provenance.supportingPassages[3]` points to. */
export function findPassage(item: FeedItem, reference: string | undefined) {
  const index = /^provenance\.supportingPassages\[(\d+)\]$/.exec(reference ?? '')?.[1];
  return index === undefined ? undefined : item.provenance.supportingPassages[Number(index)];
}

/** Addresses of sources are untrusted text. Only web addresses become links. */
export const webAddress = (url: string | undefined): string | undefined =>
  url !== undefined && /^https?:\/\//i.test(url) ? url : undefined;
