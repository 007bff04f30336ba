import { listTechniqueIds, type LibraryEntry, loadLibrary } from '../../../detection/library/load-library.ts';
import { findTechnique } from '../../../feed/reference-data/attack.ts';
import { logKinds } from '../log-kinds.ts';
import { queryTemplates, type QueryTemplate } from '../templates/query-templates.ts';

/** A shipped detection or a query template that an intent can mean. `techniques` begins with those that it detects best. */
export type IntentSource = { name: string; techniques: readonly string[]; texts: SourceTexts } & (
  | { kind: 'shipped'; entry: LibraryEntry }
  | { kind: 'template'; template: QueryTemplate }
);

/** The texts of a source: its name, what it finds, what its techniques and logs are called, and the rest (prompt, query, samples). */
export type SourceTexts = { name: string; description: string; techniques: string; logs: string; rest: string };

/** Returns every shipped detection and query template. */
export const listIntentSources = (): IntentSource[] => [
  ...[...loadLibrary().values()].map(toShippedSource),
  ...queryTemplates.map(toTemplateSource),
];

function toShippedSource(entry: LibraryEntry): IntentSource {
  const { body, logSource, datasets, noise, folder, tests } = entry;
  const techniques = listTechniqueIds(entry);
  return {
    kind: 'shipped',
    entry,
    name: body.name,
    techniques,
    texts: {
      name: `${body.name} ${entry.id}`,
      description: `${body.description ?? ''} ${body.headline ?? ''}`,
      techniques: nameTechniques(techniques),
      logs: [folder, logSource.product, logSource.service, ...Object.keys(datasets), ...(body.tags ?? [])].join(' '),
      rest: [
        body.systemPrompt,
        noise,
        listLiterals(body.detectionQuery),
        JSON.stringify(tests.tests[0]?.events ?? []),
      ].join(' '),
    },
  };
}

function toTemplateSource(template: QueryTemplate): IntentSource {
  const { name, techniques, kind, benign, where, match } = template;
  return {
    kind: 'template',
    template,
    name,
    techniques,
    texts: {
      name: `${name} ${template.id}`,
      description: '',
      techniques: nameTechniques(techniques.slice(0, 2)),
      logs: [kind, ...Object.keys(logKinds[kind].parts)].join(' '),
      rest: [benign, JSON.stringify(where), JSON.stringify(match), nameTechniques(techniques.slice(2))].join(' '),
    },
  };
}

const nameTechniques = (ids: readonly string[]): string => ids.map((id) => findTechnique(id)?.name ?? '').join('. ');

/** Returns what a query compares with: the texts in its quotation marks. */
const listLiterals = (query: string): string => (query.match(/'[^']*'/g) ?? []).join(' ');
