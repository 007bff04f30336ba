import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  catalogueQuery,
  createSource,
  type NewSource,
  type Source,
  testSource,
  type CatalogSource,
} from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import type { Draft } from '../../ui/forms/use-draft.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { emptyDraft, toNewSource } from './source-draft.ts';
import { SourceForm } from './source-form.tsx';
import { Button } from '../../ui/button.tsx';
import { TestResult } from './test-result.tsx';

/** `new` shows the catalog, and `own` the form. */
export type Addition = 'new' | 'own';

type Props = {
  form: Addition;
  sources: readonly Source[];
  onForm: (form: Addition) => void;
  onAdd: (id: string) => void;
};

/** A source to create, and what was typed for it, if it is none of the catalog. */
type Added = { source: NewSource; kept?: Draft };

/** Adds a source: one of the catalog with a click, or one's own. */
export function AddSource({ form, sources, onForm, onAdd }: Props) {
  const client = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: ({ source }: Added) => createSource(source),
    onSuccess: async ({ id, name }, { kept }) => {
      kept?.reset();
      toasts.add({ title: texts.created, description: name });
      await client.invalidateQueries({ queryKey: ['sources', 'list'] });
      onAdd(id);
    },
    onError: ({ message }) => toasts.add({ title: texts.notCreated, description: message, isError: true }),
  });
  return (
    <div className="flex flex-col gap-5 px-4 py-5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 className="text-15 font-strong">{texts.add}</h2>
        <SegmentedControl label={texts.from} options={texts.additions} value={form} onChange={onForm} />
      </div>
      {form === 'own' ? (
        <SourceForm
          initial={emptyDraft}
          isPending={isPending}
          error={error}
          onSave={(draft, kept) => mutate({ source: toNewSource(draft), kept })}
        />
      ) : (
        <Catalog
          sources={sources}
          isPending={isPending}
          onAdd={(name) => mutate({ source: { catalogue: name, visibility: 'private' } })}
        />
      )}
    </div>
  );
}

type CatalogProps = { sources: readonly Source[]; isPending: boolean; onAdd: (name: string) => void };

function Catalog({ sources, isPending, onAdd }: CatalogProps) {
  const { data, error, refetch } = useQuery(catalogueQuery);
  const [words, setWords] = useState<string>();
  const present = new Set(sources.map(({ url }) => url));
  const entries = data?.sources.filter(({ title, publisher, brings }) =>
    `${title} ${publisher} ${brings}`.toLowerCase().includes(words?.toLowerCase() ?? ''),
  );
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    <Section title={texts.catalogue} count={entries?.length}>
      <SearchField label={texts.findInCatalogue} value={words} onChange={setWords} />
      {!entries ? (
        <Skeleton className="h-40" />
      ) : entries.length === 0 ? (
        <p className="text-muted">{texts.notInCatalogue}</p>
      ) : (
        <ul className="flex flex-col">
          {entries.map((entry) => (
            <CatalogEntry
              key={entry.name}
              entry={entry}
              isPresent={present.has(entry.url)}
              isPending={isPending}
              onAdd={() => onAdd(entry.name)}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

type EntryProps = { entry: CatalogSource; isPresent: boolean; isPending: boolean; onAdd: () => void };

/** A source of the catalog, which can be tested and added. */
function CatalogEntry({ entry, isPresent, isPending, onAdd }: EntryProps) {
  const { name, title, publisher, kind, brings, license } = entry;
  const test = useMutation({ mutationFn: () => testSource({ catalogue: name }) });
  return (
    <li className="flex flex-col gap-1 border-b py-1 last:border-b-0">
      <div className="flex min-h-9 items-center gap-2">
        <span className="min-w-0 grow">
          <span className="block truncate">{title}</span>
          <span className="block truncate text-12 text-muted">
            {publisher} · {texts.kinds[kind]}
            {license && ` · ${license}`}
          </span>
          <span className="block text-12 text-muted">{brings}</span>
        </span>
        <Button
          kind="quiet"
          disabled={test.isPending}
          aria-label={`${texts.test}: ${title}, ${publisher}`}
          onClick={() => test.mutate()}
        >
          {test.isPending ? texts.testing : texts.test}
        </Button>
        {isPresent ? (
          <span className="text-12 text-muted">{texts.added}</span>
        ) : (
          <Button disabled={isPending} aria-label={`${texts.addOne}: ${title}, ${publisher}`} onClick={onAdd}>
            {texts.addOne}
          </Button>
        )}
      </div>
      <TestResult test={test.data} error={test.error} />
    </li>
  );
}
