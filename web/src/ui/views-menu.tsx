import { Bookmark } from 'lucide-react';
import { useState } from 'react';
import { useSavedViews } from '../lib/saved-views.ts';
import { texts } from '../texts/common.ts';
import { MenuButton } from './menu-button.tsx';

type Props = {
  page: string;
  /** Parameters of the address that belong to a view. */
  current: Record<string, unknown>;
  onOpen: (search: Record<string, unknown>) => void;
};

/** Saved filters of a page: opens, saves and removes them. */
export function ViewsMenu({ page, current, onOpen }: Props) {
  const { views, save, remove } = useSavedViews(page);
  const [isNaming, setIsNaming] = useState(false);
  const isFiltered = Object.values(current).some((value) => value !== undefined);
  const active = views.find(({ search }) => JSON.stringify(search) === JSON.stringify(current));
  if (isNaming)
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const name = String(new FormData(event.currentTarget).get('name')).trim();
          if (name !== '') save({ name, search: current });
          setIsNaming(false);
        }}
      >
        <input
          name="name"
          autoFocus
          maxLength={60}
          aria-label={texts.views.name}
          placeholder={texts.views.name}
          onBlur={() => setIsNaming(false)}
          onKeyDown={(event) => event.key === 'Escape' && setIsNaming(false)}
          className="h-7 w-44 rounded-control border border-accent bg-surface px-2 outline-none placeholder:text-faint"
        />
      </form>
    );
  return (
    <MenuButton
      align="end"
      className="inline-flex h-7 items-center gap-1.5 rounded-control px-2 text-muted hover:bg-hover hover:text-ink"
      entries={[
        {
          kind: 'choice',
          label: views.length === 0 ? texts.views.none : texts.views.label,
          value: active?.name,
          options: views.map(({ name }) => ({ value: name, label: name })),
          onSelect: (name) => onOpen(views.find((view) => view.name === name)!.search),
        },
        { kind: 'separator' },
        active
          ? {
              kind: 'action',
              label: texts.views.remove(active.name),
              isDanger: true,
              onSelect: () => remove(active.name),
            }
          : {
              kind: 'action',
              label: texts.views.save,
              isDisabled: !isFiltered,
              onSelect: () => setIsNaming(true),
            },
      ]}
    >
      <Bookmark className="size-3.5" aria-hidden />
      {active?.name ?? texts.views.label}
    </MenuButton>
  );
}
