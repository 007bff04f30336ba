import { Command } from 'cmdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate, linkOptions, type NavigateOptions } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useState } from 'react';
import { foundQuery, type FoundRecords } from '../api/found.ts';
import { setTheme, themes } from '../lib/theme.ts';
import { setTimeZone } from '../lib/time.ts';
import { texts } from '../texts/common.ts';
import { texts as entityTexts } from '../texts/entities.ts';
import { texts as hitTexts } from '../texts/hits.ts';
import { Modal } from '../ui/overlays/modal.tsx';
import { detectionPages, feedPages, hitPages, pages } from './navigation.ts';
import { paletteFrame } from './palette-frame.ts';

const item = 'flex h-8 items-center gap-2.5 rounded-small px-2 hover:bg-hover data-[selected=true]:bg-selected';
const group =
  '[&>[cmdk-group-heading]]:px-2 [&>[cmdk-group-heading]]:py-1.5 [&>[cmdk-group-heading]]:text-12 [&>[cmdk-group-heading]]:text-faint';
const searchFeed = 'search-feed';
/** Returns whether the words can be an address, a domain or a hash: one word with a dot, a colon or many characters. */
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

/** Finds pages, actions, and whatever the API finds: detections, items of the feed, incidents and hits. */
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
  const choose = (action: () => unknown) => () => {
    onClose();
    void action();
  };
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
          <PageEntries words={words} choose={choose} />
          {results.map(({ heading, entries }) => (
            <Command.Group key={heading} heading={heading} className={group}>
              {entries.map(({ id, label, to }) => (
                <FoundEntry key={id} id={id} label={label} onSelect={choose(() => navigate(to))} />
              ))}
            </Command.Group>
          ))}
          <ActionEntries words={words} choose={choose} />
          <ThemeEntries words={words} choose={choose} />
          <TimeZoneEntries words={words} choose={choose} />
        </Command.List>
      </Command>
    </Modal>
  );
}

type EntriesProps = {
  words: string;
  /** Returns a function that closes the palette and calls `action`. */
  choose: (action: () => unknown) => () => void;
};

/** An entry that is shown whatever its label is, because the API has matched it. */
function FoundEntry({ id, label, onSelect }: { id: string; label: string; onSelect: () => void }) {
  return (
    <Command.Item value={id} className={item} onSelect={onSelect}>
      <span className="truncate">{label}</span>
    </Command.Item>
  );
}

/** Pages, by the beginnings of their words. Without words, the pages of the sidebar are enough. */
function PageEntries({ words, choose }: EntriesProps) {
  const navigate = useNavigate();
  const main = pages.filter(({ label }) => hasWords(label, words));
  const others =
    words === ''
      ? []
      : [...hitPages, ...detectionPages, ...feedPages].filter(
          ({ path, label }) => !pages.some((page) => page.path === path) && hasWords(label, words),
        );
  if (main.length + others.length === 0) return null;
  return (
    <Command.Group heading={texts.goTo} className={group}>
      {main.map(({ path, label, icon: Icon }) => (
        <Command.Item key={path} value={path} className={item} onSelect={choose(() => navigate({ to: path }))}>
          <Icon className="size-4 text-muted" strokeWidth={1.75} aria-hidden />
          {label}
        </Command.Item>
      ))}
      {others.map(({ path, label }) => (
        <FoundEntry key={path} id={path} label={label} onSelect={choose(() => navigate({ to: path }))} />
      ))}
    </Command.Group>
  );
}

/** Actions by the beginnings of their words, a look-up of the words, and a search for them. */
function ActionEntries({ words, choose }: EntriesProps) {
  const navigate = useNavigate();
  const actions = [
    { label: texts.actions.newDetection, run: () => navigate({ to: '/detections/new' }) },
    { label: texts.actions.addSource, run: () => navigate({ to: '/sources', search: { source: 'new' } }) },
  ].filter(({ label }) => hasWords(label, words));
  if (actions.length === 0 && words.length < 2) return null;
  return (
    <Command.Group heading={texts.actions.label} className={group}>
      {actions.map(({ label, run }) => (
        <Command.Item key={label} value={label} className={item} onSelect={choose(run)}>
          {label}
        </Command.Item>
      ))}
      {looksLikeIndicator(words) && (
        <FoundEntry
          id="look-up"
          label={texts.actions.lookUp(words)}
          onSelect={choose(() => navigate({ to: '/indicators', search: { values: words, value: words } }))}
        />
      )}
      {words.length > 1 && (
        <FoundEntry
          id={searchFeed}
          label={texts.actions.searchFeed(words)}
          onSelect={choose(() => navigate({ to: '/feed', search: { q: words } }))}
        />
      )}
    </Command.Group>
  );
}

function ThemeEntries({ words, choose }: EntriesProps) {
  const typed = themes.filter((theme) => hasWords(themeLabel(theme), words));
  if (typed.length === 0) return null;
  return (
    <Command.Group heading={texts.theme.label} className={group}>
      {typed.map((theme) => (
        <Command.Item key={theme} value={themeLabel(theme)} className={item} onSelect={choose(() => setTheme(theme))}>
          {themeLabel(theme)}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

const zonesMax = 5;
const zoneLabel = (zone: string): string => texts.timeZone.pick(zone.replaceAll('_', ' '));

/** Time zones by the beginnings of their words, such as `time tokyo`. Without words, none. */
function TimeZoneEntries({ words, choose }: EntriesProps) {
  const zones =
    words.length < 3
      ? []
      : ['UTC', ...Intl.supportedValuesOf('timeZone')].filter((zone) =>
          hasWords(zoneLabel(zone).replaceAll('/', ' '), words),
        );
  if (zones.length === 0) return null;
  return (
    <Command.Group heading={texts.timeZone.label} className={group}>
      {zones.slice(0, zonesMax).map((zone) => (
        <Command.Item key={zone} value={zoneLabel(zone)} className={item} onSelect={choose(() => setTimeZone(zone))}>
          {zoneLabel(zone)}
        </Command.Item>
      ))}
    </Command.Group>
  );
}

type FoundGroup = { heading: string; entries: { id: string; label: string; to: NavigateOptions }[] };

/** Groups the records that a search found by their type. Leaves out empty groups. */
const groupFound = ({ detections, incidents, hits, hitEntities, entities, items }: FoundRecords): FoundGroup[] =>
  [
    {
      heading: texts.found.detections,
      entries: detections.map(({ id, name }) => ({
        id,
        label: name,
        to: linkOptions({ to: '/detections/$id', params: { id } }),
      })),
    },
    {
      heading: texts.found.incidents,
      entries: incidents.map(({ id, title }) => ({
        id,
        label: title,
        to: linkOptions({ to: '/incidents/$id', params: { id } }),
      })),
    },
    {
      heading: texts.found.hits,
      entries: hits.map(({ id, headline }) => ({
        id,
        label: headline,
        to: linkOptions({ to: '/hits/$id', params: { id } }),
      })),
    },
    {
      heading: texts.found.hitEntities,
      entries: hitEntities.map(({ entity: name, entityType: type }) => ({
        id: `entity ${type} ${name}`,
        label: `${name} (${hitTexts.profile.types[type].toLowerCase()})`,
        to: linkOptions({ to: '/hits/entity', search: { type, name } }),
      })),
    },
    {
      heading: texts.found.entities,
      entries: entities.map(({ type, name }) => ({
        id: `${type} ${name}`,
        label: `${name} (${entityTexts.types[type].toLowerCase()})`,
        to: linkOptions({ to: '/entities', search: { kind: type, name } }),
      })),
    },
    {
      heading: texts.found.items,
      entries: items.map(({ id, event }) => ({
        id,
        label: event.title,
        to: linkOptions({ to: '/feed/$id', params: { id } }),
      })),
    },
  ].filter(({ entries }) => entries.length > 0);
