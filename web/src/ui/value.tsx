import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { EllipsisVertical } from 'lucide-react';
import { addListValue, valueListsQuery } from '../api/detection-parts.ts';
import { findEntity } from '../api/found.ts';
import type { EntityPath } from '../api/hits.ts';
import { copyText } from '../lib/copy-text.ts';
import { classes } from '../lib/text.ts';
import { texts as common } from '../texts/common.ts';
import { useChange } from './forms/use-change.ts';
import { MenuButton } from './overlays/menu-button.tsx';
import type { MenuEntry } from './overlays/menu-popup.tsx';
import { toasts } from './overlays/toasts.tsx';

const texts = common.value;
const aroundMs = 5 * 60_000;
/** A longer text, such as a script, is nothing that is looked up, and no entry of a list. */
const lookUpMax = 500;
const listsMax = 8;

type Props = {
  value: string;
  /** When it was seen. */
  at?: string | null | undefined;
  /** The type of the entity that the value is, if that is known. */
  type?: EntityPath['type'];
  /** Narrows what is shown to the value. */
  onFilter?: (() => void) | undefined;
  /** Begins an exception for the value. */
  onExcept?: (() => void) | undefined;
  /** Whether it is one line that is cut off where its place ends, with the menu there. */
  isCut?: boolean;
  /** How the value is shown, if not as it is. */
  children?: React.ReactNode;
};

/** A value of an event, with a menu of everything that can be done with it. The menu appears on hover and focus, so that the text can be selected. */
export function Value({ value, children = value, ...rest }: Props) {
  return (
    <span className={classes('group/value', rest.isCut && 'relative block truncate pr-5')}>
      {children}
      {value !== '' && <ValueMenu value={value} {...rest} />}
    </span>
  );
}

function ValueMenu({ value, at, type, isCut, onFilter, onExcept }: Omit<Props, 'children'>) {
  const navigate = useNavigate();
  const { data: lists = [] } = useQuery({ ...valueListsQuery, staleTime: 60_000, refetchInterval: false });
  const { mutate: add } = useChange({
    change: (name: string) => addListValue(name, value),
    refresh: [valueListsQuery.queryKey],
    done: (isNew, name) => (isNew ? texts.added : texts.present)(value, name),
    failed: texts.notAdded,
  });
  const openProfile = async (): Promise<void> => {
    const found = type ? { entityType: type, entity: value } : await findEntity(value).catch(() => undefined);
    if (found)
      await navigate({
        to: '/hits/entity',
        search: { type: found.entityType as EntityPath['type'], name: found.entity },
      });
    else toasts.add({ title: texts.noProfile(value) });
  };
  const action = (label: string, onSelect: () => void): MenuEntry => ({ kind: 'action', label, onSelect });
  const isShort = value.length <= lookUpMax;
  const seen = at ? Date.parse(at) : Number.NaN;
  const around = Number.isNaN(seen)
    ? undefined
    : [seen - aroundMs, seen + aroundMs].map((ms) => new Date(ms).toISOString());
  const entries: MenuEntry[] = [
    action(texts.copy, () => void copyText(value).then((isCopied) => isCopied && toasts.add({ title: common.copied }))),
    ...(onFilter ? [action(texts.filter, onFilter)] : []),
    ...(isShort
      ? [
          action(texts.hits, () => void navigate({ to: '/hits', search: { value } })),
          action(texts.profile, () => void openProfile()),
          action(texts.lookUp, () => void navigate({ to: '/indicators', search: { values: value, value } })),
        ]
      : []),
    ...(around
      ? [action(texts.logs, () => void navigate({ to: '/logs', search: { from: around[0], to: around[1] } }))]
      : []),
    ...(onExcept ? [action(texts.exception, onExcept)] : []),
    // The rows of a list with an address come from there.
    ...(isShort
      ? lists
          .filter(({ source }) => !source)
          .slice(0, listsMax)
          .map(({ name }) => action(texts.list(name), () => add(name)))
      : []),
  ];
  return (
    <MenuButton
      label={texts.actions(value.slice(0, 100))}
      entries={entries}
      className={classes(
        isCut ? 'absolute inset-y-0 right-0 my-auto' : '-my-1',
        'inline-flex size-5 shrink-0 items-center justify-center rounded-small align-middle text-faint opacity-0 group-hover/value:opacity-100 hover:bg-hover hover:text-ink focus-visible:opacity-100 aria-expanded:opacity-100 pointer-coarse:opacity-100',
      )}
    >
      <EllipsisVertical className="size-3" aria-hidden />
    </MenuButton>
  );
}
