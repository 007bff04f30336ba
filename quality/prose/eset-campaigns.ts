import { readRecordedRows } from '../recorded-inputs.ts';

type GoldValue = { value: string; toIds: boolean; inText: boolean };
type CampaignRow = {
  campaign: string;
  readme: string;
  moreTexts: { text: string }[];
  mispEvents: { uuid: string }[];
  gold: Record<string, GoldValue[]>;
};
export type Campaign = Pick<CampaignRow, 'campaign' | 'mispEvents' | 'gold'> & { text: string };

/** Reads the campaigns, each with all its pages as one text. */
export const readCampaigns = (): Campaign[] =>
  readRecordedRows<CampaignRow>('feed/eset/campaigns.ndjson.gz').map(({ readme, moreTexts, ...campaign }) => ({
    ...campaign,
    text: [readme, ...moreTexts.map(({ text }) => text)].join('\n\n'),
  }));

export const goldGroups: Record<string, string[]> = {
  ip: ['ipv4', 'ipv6'],
  hash: ['md5', 'sha1', 'sha256', 'imphash'],
  domain: ['domain'],
  url: ['url', 'uri', 'link'],
  file: ['filename'],
  'registry key': ['regkey'],
};

export function listGoldValues({ gold }: Campaign, group: string): string[] {
  const wanted = goldGroups[group]!.filter((type) => type !== 'uri' && type !== 'link');
  return [
    ...new Set(wanted.flatMap((type) => (gold[type] ?? []).filter(({ inText }) => inText).map(({ value }) => value))),
  ];
}
