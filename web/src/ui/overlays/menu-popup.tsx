import { Menu } from '@base-ui/react/menu';
import { Check } from 'lucide-react';
import { Fragment } from 'react';
import { classes } from '../../lib/text.ts';

export type MenuEntry =
  | {
      kind: 'action';
      label: React.ReactNode;
      /** Shown at the right: an icon or a key. */
      mark?: React.ReactNode;
      isDanger?: boolean;
      isDisabled?: boolean;
      onSelect: () => void;
    }
  | {
      kind: 'choice';
      label?: string;
      value: string | undefined;
      options: readonly { value: string; label: React.ReactNode; count?: string | undefined }[];
      onSelect: (value: string) => void;
    }
  | { kind: 'separator' };

type Props = {
  anchor: React.RefObject<HTMLElement | null>;
  labelId: string;
  entries: readonly MenuEntry[];
  side: 'top' | 'bottom';
  align: 'start' | 'end';
  onClose: () => void;
};

const item =
  'flex min-h-7 items-center justify-between gap-6 rounded-small px-2 outline-none data-highlighted:bg-hover data-disabled:opacity-50';

export default function MenuPopup({ anchor, labelId, entries, side, align, onClose }: Props) {
  /** An action may open a dialog, which returns the focus to the button. */
  const close = (): void => {
    anchor.current?.focus();
    onClose();
  };
  return (
    <Menu.Root
      open
      modal={false}
      onOpenChange={(isOpen, { event }) => {
        // A press on the button closes the menu there.
        if (!isOpen && !anchor.current?.contains(event.target as Node)) onClose();
      }}
    >
      <Menu.Portal>
        <Menu.Positioner anchor={anchor} side={side} align={align} sideOffset={4} className="z-40">
          <Menu.Popup
            aria-labelledby={labelId}
            // An action may replace the button, by a field that has the focus.
            finalFocus={() => anchor.current ?? false}
            className="max-h-[min(24rem,var(--available-height))] max-w-[min(24rem,calc(100vw-1rem))] min-w-44 overflow-y-auto rounded-control bg-raised p-1 shadow-float outline-none"
          >
            {entries.map((entry, index) => (
              // Entries have no names of their own, and their order does not change while the menu is open.
              <Fragment key={index}>
                <Entry entry={entry} onClose={close} />
              </Fragment>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Entry({ entry, onClose }: { entry: MenuEntry; onClose: () => void }) {
  if (entry.kind === 'separator') return <Menu.Separator className="my-1 border-t" />;
  if (entry.kind === 'action')
    return (
      <Menu.Item
        disabled={entry.isDisabled ?? false}
        className={classes(item, entry.isDanger && 'text-bad')}
        onClick={() => {
          onClose();
          entry.onSelect();
        }}
      >
        <span className="truncate">{entry.label}</span>
        {entry.mark}
      </Menu.Item>
    );
  return (
    <Menu.RadioGroup
      value={entry.value ?? null}
      onValueChange={(value: string) => {
        onClose();
        entry.onSelect(value);
      }}
    >
      <Menu.Group>
        {entry.label && <Menu.GroupLabel className="px-2 py-1 text-12 text-faint">{entry.label}</Menu.GroupLabel>}
        {entry.options.map(({ value, label, count }) => (
          <Menu.RadioItem key={value} value={value} className={item}>
            <span className="truncate">{label}</span>
            <span className="flex items-center gap-2">
              {count !== undefined && <span className="tabular text-12 text-muted">{count}</span>}
              <Menu.RadioItemIndicator>
                <Check className="size-3.5 text-accent" aria-hidden />
              </Menu.RadioItemIndicator>
            </span>
          </Menu.RadioItem>
        ))}
      </Menu.Group>
    </Menu.RadioGroup>
  );
}
