import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { catalogueQuery, createSource, type NewSource, type Source } from '../../api/sources.ts';
import { texts } from '../../texts/sources.ts';
import { Button } from '../../ui/button.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { toasts } from '../../ui/toasts.tsx';
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
  const entries = data?.sources.filter(({ title, publisher }) =>
    `${title} ${publisher}`.toLowerCase().includes(words?.toLowerCase() ?? ''),
  );
  return (
    <div className="flex flex-col gap-6 p-5">
      <h2 className="text-15 font-strong">{texts.add}</h2>
      <Section title={texts.own}>
        <SourceForm isPending={isPending} error={failure} onCreate={mutate} />
      </Section>
      <Section title={texts.catalogue} count={data?.sources.length}>
        <SearchField label={texts.findInCatalogue} value={words} onChange={setWords} />
        {error ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : !entries ? (
          <Skeleton className="h-40" />
        ) : (
          <ul className="flex flex-col">
            {entries.map(({ name, title, publisher, kind, url }) => (
              <li key={name} className="flex min-h-11 items-center gap-3 border-b py-1 last:border-b-0">
                <span className="min-w-0 grow">
                  <span className="block truncate">{title}</span>
                  <span className="block truncate text-12 text-muted">
                    {publisher} · {texts.kinds[kind]}
                  </span>
                </span>
                {present.has(url) ? (
                  <span className="text-12 text-muted">{texts.added}</span>
                ) : (
                  <Button
                    disabled={isPending}
                    aria-label={`${texts.addOne}: ${title}, ${publisher}`}
                    onClick={() => mutate({ catalogue: name, visibility: 'private' })}
                  >
                    {texts.addOne}
                  </Button>
                )}
              </li>
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}
