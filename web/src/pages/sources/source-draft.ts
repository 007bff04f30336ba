import type { NewSource, Source, SourceChange, TestedSource } from '../../api/sources.ts';

/** How the service signs in to a source. `keep`: with the credential that is stored. */
export type Access = 'keep' | 'none' | 'bearer' | 'basic' | 'header';

/** The fields of a source as they are typed. */
export type SourceDraft = Record<
  | 'name'
  | 'url'
  | 'publisher'
  | 'tlp'
  | 'schedule'
  | 'reliability'
  | 'include'
  | 'exclude'
  | 'user'
  | 'secret'
  | 'sightingsUrl',
  string
> & { kind: Source['kind']; access: Access; tlpMax: Tlp };

type Tlp = NonNullable<Source['tlp']>;

export const emptyDraft: SourceDraft = {
  kind: 'rss',
  name: '',
  url: '',
  publisher: '',
  tlp: '',
  schedule: '',
  reliability: '',
  include: '',
  exclude: '',
  access: 'none',
  user: '',
  secret: '',
  sightingsUrl: '',
  tlpMax: 'GREEN',
};

export const toDraft = (source: Source): SourceDraft => ({
  ...emptyDraft,
  kind: source.kind,
  name: source.name,
  url: source.url,
  publisher: source.publisher ?? '',
  tlp: source.tlp ?? '',
  schedule: source.schedule,
  reliability: String(Math.round(source.reliability * 100)),
  include: source.include.join(', '),
  exclude: source.exclude.join(', '),
  access: source.hasAuth ? 'keep' : 'none',
  ...(source.sightings && { sightingsUrl: source.sightings.url, tlpMax: source.sightings.tlpMax }),
});

/** Returns what to send for a field that may be empty: nothing for a new source, null to reset that of an existing one. */
const optional = <Value>(text: string, empty: Value): string | Value => (text.trim() === '' ? empty : text.trim());

const toWords = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

function toAuth({ access, user, secret }: SourceDraft): NewSource['auth'] {
  switch (access) {
    case 'keep':
      return undefined;
    case 'none':
      return null;
    case 'bearer':
      return { type: 'bearer', token: secret };
    case 'basic':
      return { type: 'basic', username: user, password: secret };
    case 'header':
      return { type: 'header', name: user, value: secret };
  }
}

const toFields = <Empty>(draft: SourceDraft, empty: Empty) => ({
  name: draft.name.trim(),
  url: draft.url.trim(),
  publisher: optional(draft.publisher, empty),
  tlp: optional(draft.tlp, empty) as Exclude<NewSource['tlp'], null> | Empty,
  schedule: optional(draft.schedule, empty),
  ...(draft.reliability.trim() !== '' && { reliability: Number(draft.reliability) / 100 }),
  include: toWords(draft.include),
  exclude: toWords(draft.exclude),
  auth: toAuth(draft),
  sightings: draft.sightingsUrl.trim() === '' ? empty : { url: draft.sightingsUrl.trim(), tlpMax: draft.tlpMax },
});

export const toNewSource = (draft: SourceDraft): NewSource => ({
  ...toFields(draft, undefined),
  kind: draft.kind,
  visibility: 'private',
});

export const toChange = (draft: SourceDraft): SourceChange => toFields(draft, null);

/** `id` is that of the source that is edited. */
export const toTested = (draft: SourceDraft, id: string | undefined): TestedSource => ({
  ...(id !== undefined && { id }),
  kind: draft.kind,
  url: draft.url.trim(),
  auth: toAuth(draft),
});
