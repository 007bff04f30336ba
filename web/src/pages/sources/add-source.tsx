import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery, createSource, type NewSource, type Source } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { toasts } from '../../ui/overlays/toasts.tsx';
import { CatalogEntry } from './catalog-entry.tsx';
import { emptyDraft, toNewSource } from './source-draft.ts';
import { SourceForm } from './source-form.tsx';

type Props = { sources: readonly Source[]; onAdd: (id: string) => void };

/** Adds a source: one of the catalog with a click, or one's own. */
export function AddSource({ sources, onAdd }: Props) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(catalogueQuery);
  const [words, setWords] = useState<string>();
  const {
    mutate,
    isPending,
    error: failure,
  } = useMutation({
    mutationFn: (source: NewSource) => createSource(source),
    onSuccess: async ({ id, name }) => {
      toasts.add({ title: texts.created, description: name });
      await client.invalidateQueries({ queryKey: ['sources', 'list'] });
      onAdd(id);
    },
    onError: ({ message }) => toasts.add({ title: texts.notCreated, description: message, isError: true }),
  });
  const present = new Set(sources.map(({ url }) => url));
  const entries = data?.sources.filter(({ title, publisher, brings }) =>
    `${title} ${publisher} ${brings}`.toLowerCase().includes(words?.toLowerCase() ?? ''),
  );
  return (
    <div className="flex flex-col gap-6 px-4 py-5">
      <h2 className="text-15 font-strong">{texts.add}</h2>
      <Section title={texts.own}>
        <SourceForm
          initial={emptyDraft}
          isPending={isPending}
          error={failure}
          onSave={(draft) => mutate(toNewSource(draft))}
        />
      </Section>
      <Section title={texts.catalogue} count={data?.sources.length}>
        <SearchField label={texts.findInCatalogue} value={words} onChange={setWords} />
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : !entries ? (
          <Skeleton className="h-40" />
        ) : (
          <ul className="flex flex-col">
            {entries.map((entry) => (
              <CatalogEntry
                key={entry.name}
                entry={entry}
                isPresent={present.has(entry.url)}
                isPending={isPending}
                onAdd={() => mutate({ catalogue: entry.name, visibility: 'private' })}
              />
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}
