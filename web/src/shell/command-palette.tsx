import { Command } from 'cmdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useState } from 'react';
import { foundQuery } from '../api/found.ts';
import { setTheme, themes } from '../lib/theme.ts';
import { texts } from '../texts/common.ts';
import { Modal } from '../ui/overlays/modal.tsx';
import { groupFound } from './group-found.ts';
import { feedPages, pages } from './navigation.ts';
import { paletteFrame } from './palette-frame.ts';

const item = 'flex h-8 items-center gap-2.5 rounded-small px-2 hover:bg-hover data-[selected=true]:bg-selected';
const group =
  '[&>[cmdk-group-heading]]:px-2 [&>[cmdk-group-heading]]:py-1.5 [&>[cmdk-group-heading]]:text-12 [&>[cmdk-group-heading]]:text-faint';
const searchFeed = 'search-feed';
/** An address, a domain or a hash: one word with a dot, a colon or many characters. */
const looksLikeIndicator = (words: string): boolean => /^\S*[.:]\S+$|^[0-9a-f]{32,64}$/i.test(words);

const themeLabel = (theme: (typeof themes)[number]): string => `${texts.theme.label}: ${texts.theme[theme]}`;

/** Returns whether each word is the beginning of a word of the label. */
function hasWords(label: string, words: string): boolean {
  const parts = label.toLowerCase().split(/[\s:]+/);
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => parts.some((part) => part.startsWith(word)));
}

/** `typed` is what the user typed while the palette loaded. */
type Props = { typed: string; returnTarget: () => HTMLElement | null; onClose: () => void };

/** Finds pages, actions, and whatever the API finds: detections, items of the feed, and hits. */
export default function CommandPalette({ typed, returnTarget, onClose }: Props) {
  const navigate = useNavigate();
  const [text, setText] = useState(typed);
  const [selected, setSelected] = useState('');
  const [isChosen, setChosen] = useState(false);
  const words = useDeferredValue(text.trim());
  const { data: found, isFetching } = useQuery({
    ...foundQuery(words),
    enabled: words.length > 1,
    placeholderData: keepPreviousData,
  });
  const choose = (action: () => void) => () => {
    onClose();
    action();
  };
  // The API has matched these already.
  const foundItem = (id: string, label: string, open: () => unknown) => (
    <Command.Item key={id} value={id} className={item} onSelect={choose(() => void open())}>
      <span className="truncate">{label}</span>
    </Command.Item>
  );
  // Pages and actions are found by the beginnings of their words.
  const isTyped = (label: string): boolean => hasWords(label, words);
  const actions = [
    { label: texts.actions.newDetection, run: () => navigate({ to: '/detections/new' }) },
    { label: texts.actions.addSource, run: () => navigate({ to: '/sources', search: { source: 'new' } }) },
  ].filter(({ label }) => isTyped(label));
  const typedPages = pages.filter(({ label }) => isTyped(label));
  // Without words, the pages of the sidebar are enough.
  const typedFeedPages = words === '' ? [] : feedPages.filter(({ path, label }) => path !== '/feed' && isTyped(label));
  const typedThemes = themes.filter((theme) => isTyped(themeLabel(theme)));
  const results = words.length > 1 && found ? groupFound(found) : [];
  const firstId = results.flatMap(({ entries }) => entries)[0]?.id;
  // Results arrive after the search of the feed has been selected. Select the first one, unless the user has moved the selection.
  useEffect(() => {
    if (!isChosen && selected === searchFeed && firstId !== undefined) setSelected(firstId);
  }, [isChosen, selected, firstId]);
  return (
    <Modal label={texts.search} returnTarget={returnTarget} onClose={onClose} className={paletteFrame.popup}>
      <Command
        loop
        shouldFilter={false}
        disablePointerSelection
        value={selected}
        onValueChange={setSelected}
        onKeyDown={({ key }) => setChosen(key.startsWith('Arrow'))}
      >
        <Command.Input
          autoFocus
          value={text}
          onValueChange={setText}
          placeholder={texts.search}
          className={paletteFrame.input}
        />
        <Command.List className="max-h-80 overflow-y-auto p-1.5">
          <Command.Empty className="p-6 text-center text-muted">
            {isFetching ? texts.searching : texts.nothingFound}
          </Command.Empty>
          {typedPages.length + typedFeedPages.length > 0 && (
            <Command.Group heading={texts.goTo} className={group}>
              {typedPages.map(({ path, label, icon: Icon }) => (
                <Command.Item
                  key={path}
                  value={path}
                  className={item}
                  onSelect={choose(() => void navigate({ to: path }))}
                >
                  <Icon className="size-4 text-muted" strokeWidth={1.75} aria-hidden />
                  {label}
                </Command.Item>
              ))}
              {typedFeedPages.map(({ path, label }) => foundItem(path, label, () => navigate({ to: path })))}
            </Command.Group>
          )}
          {results.map(({ heading, entries }) => (
            <Command.Group key={heading} heading={heading} className={group}>
              {entries.map(({ id, label, to }) => foundItem(id, label, () => navigate(to)))}
            </Command.Group>
          ))}
          {(actions.length > 0 || words.length > 1) && (
            <Command.Group heading={texts.actions.label} className={group}>
              {actions.map(({ label, run }) => (
                <Command.Item key={label} value={label} className={item} onSelect={choose(() => void run())}>
                  {label}
                </Command.Item>
              ))}
              {looksLikeIndicator(words) &&
                foundItem('look-up', texts.actions.lookUp(words), () =>
                  navigate({ to: '/indicators', search: { values: words, value: words } }),
                )}
              {words.length > 1 &&
                foundItem(searchFeed, texts.actions.searchFeed(words), () =>
                  navigate({ to: '/feed', search: { q: words } }),
                )}
            </Command.Group>
          )}
          {typedThemes.length > 0 && (
            <Command.Group heading={texts.theme.label} className={group}>
              {typedThemes.map((theme) => (
                <Command.Item
                  key={theme}
                  value={themeLabel(theme)}
                  className={item}
                  onSelect={choose(() => setTheme(theme))}
                >
                  {themeLabel(theme)}
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Modal>
  );
}
