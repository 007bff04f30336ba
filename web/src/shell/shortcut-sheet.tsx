import { Dialog } from '@base-ui/react/dialog';
import { modifierKey } from '../lib/modifier-key.ts';
import { texts } from '../texts/common.ts';
import { shortcutTexts } from '../texts/shortcuts.ts';
import { Key } from '../ui/key.tsx';
import { Modal } from '../ui/overlays/modal.tsx';
import { pages } from './navigation.ts';

const lists: [string, [string, string][]][] = [
  [
    shortcutTexts.everywhere.title,
    [
      [`${modifierKey} K`, texts.search],
      ['?', texts.shortcuts],
      ['/', shortcutTexts.everywhere.filter],
      ['[', shortcutTexts.everywhere.sidebar],
      ['Esc', shortcutTexts.everywhere.close],
    ],
  ],
  [
    shortcutTexts.lists.title,
    [
      ['j k ↓ ↑', shortcutTexts.lists.move],
      ['Enter', shortcutTexts.lists.open],
      ['e', shortcutTexts.lists.expand],
      ['x', shortcutTexts.lists.select],
      ['a', shortcutTexts.lists.selectAll],
    ],
  ],
  [
    shortcutTexts.hit.title,
    [...shortcutTexts.hit.statuses.map((label, n): [string, string] => [`${n + 1}`, label]), ['u', texts.undo]],
  ],
  [
    shortcutTexts.item.title,
    [
      ['1', shortcutTexts.item.relevant],
      ['2', shortcutTexts.item.irrelevant],
      ['u', texts.undo],
    ],
  ],
  [
    shortcutTexts.suggestion.title,
    [
      ['a', shortcutTexts.suggestion.accept],
      ['d', shortcutTexts.suggestion.dismiss],
      ['r', shortcutTexts.suggestion.restore],
    ],
  ],
  [texts.goTo, pages.map(({ key, label }) => [`g ${key}`, label])],
];

/** Every key of the console. */
export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  return (
    <Modal
      onClose={onClose}
      className="fixed top-1/2 left-1/2 max-h-[90vh] w-[min(40rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-control bg-raised p-5 shadow-float outline-none"
    >
      <Dialog.Title className="pb-4 text-15 font-strong">{texts.shortcuts}</Dialog.Title>
      <div className="grid gap-x-10 gap-y-5 md:grid-cols-2">
        {lists.map(([title, keys]) => (
          <section key={title}>
            <h2 className="pb-1.5 text-12 text-faint">{title}</h2>
            <dl className="flex flex-col gap-1">
              {keys.map(([combination, effect]) => (
                <div key={combination} className="flex items-center justify-between gap-4">
                  <dt>{effect}</dt>
                  <dd className="flex gap-0.5">
                    {combination.split(' ').map((key) => (
                      <Key key={key}>{key}</Key>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Modal>
  );
}
