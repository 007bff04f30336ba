import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronRight, FileCode, FileText, Rss } from 'lucide-react';
import { digestQuery, type Digest } from '../../api/digest.ts';
import { basePath } from '../../lib/base-path.ts';
import { toWords } from '../../lib/text.ts';
import { FeedLinks } from '../../shell/section-links.tsx';
import { PageHeader } from '../../shell/page-header.tsx';
import { texts } from '../../texts/digest.ts';
import { IconButton } from '../../ui/button.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Loaded } from '../../ui/lists/rows.tsx';
import { Section } from '../../ui/section.tsx';

const route = getRouteApi('/shell/digest');

/** What was relevant in a week. */
export function DigestPage() {
  const { week = 'last' } = route.useSearch();
  const query = useQuery(digestQuery(week));
  return (
    <>
      <PageHeader title={texts.title} links={<FeedLinks />}>
        {query.data && <WeekNavigation digest={query.data} />}
      </PageHeader>
      <div className="min-h-0 grow overflow-y-auto">
        <div className="flex max-w-[56rem] flex-col gap-6 px-4 py-5">
          <Loaded query={query}>{(digest) => <DigestSections digest={digest} />}</Loaded>
        </div>
      </div>
    </>
  );
}

function WeekNavigation({ digest }: { digest: Digest }) {
  const navigate = route.useNavigate();
  const show = (week: string): void => void navigate({ search: { week } });
  const path = `${basePath}/api/feed/digests/${digest.week}`;
  return (
    <nav aria-label={texts.title} className="flex items-center gap-1">
      <IconButton label={texts.previous} onClick={() => show(digest.previousWeek)}>
        <ChevronLeft className="size-4" aria-hidden />
      </IconButton>
      <span className="tabular text-12">{texts.week(digest)}</span>
      <IconButton
        label={texts.next}
        disabled={Date.parse(digest.to) > Date.now()}
        onClick={() => show(digest.nextWeek)}
      >
        <ChevronRight className="size-4" aria-hidden />
      </IconButton>
      <FileLink href={`${path}?format=html`} label={texts.html} icon={FileCode} />
      <FileLink href={`${path}?format=markdown`} label={texts.markdown} icon={FileText} />
      <FileLink href={`${basePath}/api/feed/export/digests`} label={texts.rss} icon={Rss} />
    </nav>
  );
}

const FileLink = ({ href, label, icon: Icon }: { href: string; label: string; icon: typeof Rss }) => (
  <a
    href={href}
    aria-label={label}
    title={label}
    className="inline-flex size-7 items-center justify-center rounded-control text-muted hover:bg-hover hover:text-ink"
  >
    <Icon className="size-4" aria-hidden />
  </a>
);

function DigestSections({ digest }: { digest: Digest }) {
  const { stories, exploited, requirements, changes, seen } = digest;
  const isEmpty = [stories.list, exploited, requirements, changes, seen].every((list) => list.length === 0);
  if (isEmpty)
    return (
      <p className="text-muted">
        {texts.nothing}{' '}
        <Link to="/settings/relevance" className="text-accent underline">
          {texts.profile}
        </Link>
      </p>
    );
  return (
    <>
      <Entries title={texts.exploited} list={exploited}>
        {({ cves, products }) => `${cves.join(', ')} · ${products.join(', ')}`}
      </Entries>
      <Entries title={texts.seen} list={seen}>
        {(one) => (
          <>
            <span className="font-mono text-12 break-all">{one.value}</span> {texts.events(one)}
          </>
        )}
      </Entries>
      <Entries title={texts.stories} list={stories.list} total={stories.total}>
        {(story) => <StoryDetails story={story} />}
      </Entries>
      {requirements.map(({ name, total, items }) => (
        <Entries key={name} title={`${texts.requirements}: ${name}`} list={items} total={total}>
          {({ publisher }) => publisher}
        </Entries>
      ))}
      <Entries title={texts.changes} list={changes}>
        {({ status, changed, note }) => [status, ...changed.map(toWords), ...(note ? [note] : [])].join(', ')}
      </Entries>
    </>
  );
}

function StoryDetails({ story }: { story: Digest['stories']['list'][number] }) {
  const { summary, reasons, advice } = story;
  const why = [...new Set(reasons.map(({ kind, matched }) => `${kind} ${matched}`))].join(', ');
  return (
    <>
      <span className="block">{texts.reports(story)}</span>
      {summary && <span className="block text-ink">{summary}</span>}
      {why && (
        <span className="block">
          {texts.why} {why}
        </span>
      )}
      {advice.length > 0 && (
        <span className="block">
          {texts.advice} {advice.map(({ text }) => text).join(' ')}
        </span>
      )}
    </>
  );
}

type Reference = { itemId: string; title: string; severity: Digest['exploited'][number]['severity'] };
type EntriesProps<T> = { title: string; list: T[]; total?: number; children: (one: T) => React.ReactNode };

/** Items with links and what the digest says about each. Nothing if there are none. */
function Entries<T extends Reference>({ title, list, total = list.length, children }: EntriesProps<T>) {
  if (list.length === 0) return null;
  return (
    <Section title={title} count={total} level={2}>
      <ul className="flex flex-col gap-3">
        {list.map((one, index) => (
          <li key={`${one.itemId} ${index}`} className="flex min-w-0 gap-2.5">
            <span className="pt-1">
              <SeverityMark severity={one.severity} />
            </span>
            <div className="min-w-0">
              <Link
                to="/feed/$id"
                params={{ id: one.itemId }}
                className="break-words hover:text-accent hover:underline"
              >
                {one.title}
              </Link>
              <p className="text-12 break-words text-muted">{children(one)}</p>
            </div>
          </li>
        ))}
      </ul>
      {total > list.length && <p className="text-12 text-muted">{texts.more(total - list.length)}</p>}
    </Section>
  );
}
