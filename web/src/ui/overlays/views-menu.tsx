import { useQuery } from '@tanstack/react-query';
import { Bookmark } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { deleteView, saveView, viewsQuery, type View } from '../../api/views.ts';
import { texts } from '../../texts/common.ts';
import { MenuButton } from './menu-button.tsx';
import { useChange } from '../forms/use-change.ts';
import { type Draft, RestoredDraft, useDraft } from '../forms/use-draft.tsx';

type Props = {
  page: string;
  /** Parameters of the address that belong to a view. */
  current: Record<string, string | undefined>;
  onOpen: (search: Record<string, string>) => void;
};

/** Saved filters of a page, which the organization shares: opens, saves and removes them. */
export function ViewsMenu({ page, current, onOpen }: Props) {
  const { queryKey } = viewsQuery(page);
  const { data: views = [] } = useQuery(viewsQuery(page));
  const [isNaming, setIsNaming] = useState(false);
  const query = toQuery(current);
  const active = views.find((view) => view.query === query);
  const { mutate: save } = useChange({
    change: (name: string) =>
      saveView(
        { name, page, query },
        views.find((view) => view.name.toLowerCase() === name.toLowerCase()),
      ),
    refresh: [queryKey],
    failed: texts.views.notSaved,
  });
  const { mutate: remove } = useChange({
    change: ({ id }: View) => deleteView(id),
    refresh: [queryKey],
    done: (_, { name }) => texts.views.removed(name),
    failed: texts.views.notRemoved,
  });
  const menu = useRef<HTMLDivElement>(null);
  const wasNaming = useRef(false);
  useEffect(() => {
    if (wasNaming.current && !isNaming && document.activeElement === document.body)
      menu.current?.querySelector('button')?.focus();
    wasNaming.current = isNaming;
  }, [isNaming]);
  if (isNaming)
    return (
      <NameForm
        page={page}
        onSave={(name, draft) => save(name, { onSuccess: draft.reset })}
        onClose={() => setIsNaming(false)}
      />
    );
  return (
    <div ref={menu}>
      <MenuButton
        align="end"
        className="inline-flex h-7 max-w-48 items-center gap-1.5 rounded-control px-2 text-muted hover:bg-hover hover:text-ink"
        entries={[
          {
            kind: 'choice',
            label: views.length === 0 ? texts.views.none : texts.views.label,
            value: active?.id,
            options: views.map(({ id, name }) => ({ value: id, label: name })),
            onSelect: (chosen) => {
              const view = views.find(({ id }) => id === chosen);
              if (view) onOpen(Object.fromEntries(new URLSearchParams(view.query)));
            },
          },
          { kind: 'separator' },
          active
            ? {
                kind: 'action',
                label: texts.views.remove(active.name),
                isDanger: true,
                onSelect: () => remove(active),
              }
            : {
                kind: 'action',
                label: texts.views.save,
                isDisabled: query === '',
                onSelect: () => setIsNaming(true),
              },
        ]}
      >
        <Bookmark className="size-3.5 shrink-0" aria-hidden />
        <span className="truncate">{active?.name ?? texts.views.label}</span>
      </MenuButton>
    </div>
  );
}

type NameProps = { page: string; onSave: (name: string, draft: Draft) => void; onClose: () => void };

function NameForm({ page, onSave, onClose }: NameProps) {
  const [{ name }, change, draft] = useDraft(`view ${page}`, { name: '' });
  return (
    <form
      className="flex items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onSave(name.trim(), draft);
        onClose();
      }}
      onBlur={({ currentTarget, relatedTarget }) => !currentTarget.contains(relatedTarget) && onClose()}
    >
      <RestoredDraft draft={draft} />
      <input
        autoFocus
        value={name}
        onChange={(event) => change({ name: event.target.value })}
        aria-label={texts.views.name}
        placeholder={texts.views.name}
        onKeyDown={(event) => event.key === 'Escape' && onClose()}
        className="h-7 w-44 rounded-control border border-accent bg-surface px-2 outline-none placeholder:text-faint"
      />
    </form>
  );
}

/** Writes filters in one order, so that equal filters are the same text. */
function toQuery(filters: Record<string, string | undefined>): string {
  const entries = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(entries.toSorted(([a], [b]) => (a < b ? -1 : 1))).toString();
}
