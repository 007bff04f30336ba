import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { storiesQuery, type Story } from '../../api/stories.ts';
import { useOpenKeys } from '../../lib/list-keys.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/stories.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { FilterSelect } from '../../ui/forms/filter-select.tsx';
import { SearchField } from '../../ui/forms/search-field.tsx';
import { severities, SeverityLabel, SeverityMark } from '../../ui/labels/severity.tsx';
import { EntryList, type Entry } from '../../ui/lists/entry-list.tsx';
import { ListAndPanel } from '../../ui/lists/list-panel.tsx';
import { OpenPanel } from '../../ui/lists/open-panel.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { StoryView } from './story-view.tsx';
import { texts as common } from '../../texts/common.ts';

const route = getRouteApi('/shell/stories');
const severityOptions = severities.map((value) => ({ value, label: <SeverityLabel severity={value} /> }));

/** The feed by story: reports of several sources about one event are one row. */
export function StoriesPage() {
  const { story: openId, ...filter } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useInfiniteQuery(storiesQuery(filter));
  const stories = useMemo(() => query.data?.pages.flatMap((page) => page.stories), [query.data]);
  const open = (id: string | undefined): void =>
    void navigate({
      search: (search) => ({ ...search, story: id }),
      replace: openId !== undefined,
      resetScroll: false,
    });
  const index = stories?.findIndex(({ items }) => items.some(({ id }) => id === openId)) ?? -1;
  useOpenKeys({ rows: stories ?? [], index, onOpen: ({ id }) => open(id), onClose: () => open(undefined) });
  const isFiltered = Boolean(filter.q ?? filter.severity);
  return (
    <>
      <PageHeader title={texts.title} links={<FeedLinks />}>
        <SearchField
          label={texts.search}
          value={filter.q}
          onChange={(q) => void navigate({ search: (search) => ({ ...search, q }) })}
        />
        <FilterSelect
          label={texts.severity}
          value={filter.severity}
          options={severityOptions}
          onChange={(severity) => void navigate({ search: (search) => ({ ...search, severity }) })}
        />
      </PageHeader>
      <ListAndPanel
        list={
          <EntryList
            label={texts.title}
            query={query}
            entries={stories?.map(toEntry)}
            openId={stories?.[index]?.id}
            onOpen={open}
            empty={
              isFiltered
                ? {
                    title: texts.empty.filtered,
                    action: <Button onClick={() => void navigate({ search: {} })}>{texts.empty.clear}</Button>,
                  }
                : {
                    title: texts.empty.title,
                    action: (
                      <Link to="/feed" className={buttonClass('primary')}>
                        {common.nextStep.feed}
                      </Link>
                    ),
                  }
            }
          />
        }
        panel={
          openId === undefined ? null : (
            <OpenPanel id={openId} actions={null} onClose={() => open(undefined)}>
              <StoryView id={openId} listed={stories?.[index]} />
            </OpenPanel>
          )
        }
      />
    </>
  );
}

const toEntry = (story: Story): Entry => ({
  id: story.id,
  icon: <SeverityMark severity={story.severity} />,
  title: story.title,
  detail: story.sources.map(({ publisher }) => publisher).join(' · '),
  end: [<RelativeTime key="last" time={story.lastPublished} />, story.items.length > 1 ? texts.reports(story) : null],
});
