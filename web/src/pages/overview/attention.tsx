import { useInfiniteQuery } from '@tanstack/react-query';
import type { LinkProps } from '@tanstack/react-router';
import { CircleAlert, CircleCheck, CircleDashed, CirclePause, Lightbulb, OctagonX, UserRound } from 'lucide-react';
import { callsQuery, type AgentCall } from '../../api/agents.ts';
import type { Overview } from '../../api/overview.ts';
import { formatLocal } from '../../lib/time.ts';
import { texts as agents } from '../../texts/agents.ts';
import { texts as page } from '../../texts/overview.ts';
import { Section } from '../../ui/section.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { LinkRow } from './link-row.tsx';

const texts = page.attention;
/** Share of a budget from which it is reported. */
const budgetFrom = 0.8;

const looks = {
  stopped: <OctagonX className="size-4 text-bad" aria-hidden />,
  failing: <CircleAlert className="size-4 text-bad" aria-hidden />,
  paused: <CirclePause className="size-4 text-medium" aria-hidden />,
  gap: <CircleDashed className="size-4 text-high" aria-hidden />,
  undecided: <UserRound className="size-4 text-high" aria-hidden />,
  silent: <CircleDashed className="size-4 text-medium" aria-hidden />,
  idea: <Lightbulb className="size-4 text-muted" aria-hidden />,
};
type Look = keyof typeof looks;

type Entry = {
  key: string;
  look: Look;
  title: string;
  detail?: string | null;
  since?: string | null;
  link: LinkProps;
};

/** Lists failures, time that was not examined and pending decisions, the most urgent first. */
export function Attention({ overview }: { overview: Overview }) {
  const { data: calls } = useInfiniteQuery({ ...callsQuery({ state: 'waiting' }), enabled: Boolean(overview.hits) });
  const entries = [...listCalls(calls?.pages[0]), ...listEntries(overview)];
  return (
    <Section level={2} title={texts.title} {...(entries.length > 0 && { count: entries.length })}>
      {entries.length === 0 ? (
        <p className="flex items-center gap-2.5 py-1.5 text-muted">
          <CircleCheck className="size-4 text-good" aria-hidden />
          {texts.none}
        </p>
      ) : (
        <ul>
          {entries.map(({ key, look, title, detail, since, link }) => (
            <LinkRow
              key={key}
              link={link}
              icon={looks[look]}
              title={title}
              detail={detail}
              end={since && <RelativeTime time={since} />}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** What agents propose and a person has to approve or decline. Only the first page is counted. */
function listCalls(page: { calls: readonly AgentCall[]; nextCursor: string | null } | undefined): Entry[] {
  if (!page || page.calls.length === 0) return [];
  const { calls, nextCursor } = page;
  return [
    {
      key: 'calls',
      look: 'undecided',
      title: agents.calls.waiting(`${calls.length}${nextCursor === null ? '' : '+'}`),
      since: calls[0]!.createdAt,
      link: { to: '/approvals' },
    },
  ];
}

function listEntries(overview: Overview): Entry[] {
  return [
    ...listHitEntries(overview),
    ...listDetectionEntries(overview),
    ...listPauses(overview),
    ...listShortfalls(overview),
    ...listEnding(overview),
    ...listFeedEntries(overview),
    ...listSuggestions(overview),
  ];
}

function listHitEntries({ hits }: Overview): Entry[] {
  if (!hits || hits.undecided === 0) return [];
  return [
    {
      key: 'undecided',
      look: 'undecided',
      title: texts.undecided(hits.undecided),
      link: { to: '/hits', search: { status: 'open', verdict: 'undecided' } },
    },
  ];
}

function listDetectionEntries({ detections: { attention, byHealth }, gaps }: Overview): Entry[] {
  const broken = attention.filter(({ health }) => health !== 'gap');
  const states = ['stopped', 'failing', 'paused'] as const;
  const hidden = states.map((health) => ({
    health,
    count: (byHealth[health] ?? 0) - broken.filter((one) => one.health === health).length,
  }));
  return [
    ...broken.map(({ id, name, health, reason }) => ({
      key: id,
      look: health as Look,
      title: name,
      detail: [texts[health as (typeof states)[number]], reason].filter(Boolean).join(': '),
      link: { to: '/detections/$id', params: { id } } as LinkProps,
    })),
    ...hidden
      .filter(({ count }) => count > 0)
      .map(({ health, count }) => ({
        key: health,
        look: health,
        title: texts.more(count),
        detail: texts[health],
        link: { to: '/detections', search: { health } } as LinkProps,
      })),
    ...(gaps.open > 0
      ? [
          {
            key: 'gaps',
            look: 'gap' as const,
            title: texts.gaps(gaps.open, gaps.detections),
            detail: texts.gapHours(gaps.hours),
            since: gaps.oldestFrom,
            link: { to: '/detections', search: { health: 'gap' } } as LinkProps,
          },
        ]
      : []),
  ];
}

function listPauses({
  lateMatchingSince,
  pausedConnections,
  pausedModels,
  failingDestinations,
  budgets,
  quotas,
}: Overview): Entry[] {
  const models: LinkProps = { to: '/settings/models' };
  return [
    ...(lateMatchingSince === null
      ? []
      : [
          {
            key: 'matching',
            look: 'paused' as const,
            title: texts.lateMatching,
            detail: texts.lateMatchingDetail,
            since: lateMatchingSince,
            link: { to: '/detections' } as LinkProps,
          },
        ]),
    ...pausedConnections.map(({ id, name, message, since }) => ({
      key: id,
      look: 'paused' as const,
      title: texts.connection(name),
      detail: message,
      since,
      link: { to: '/settings/connections' } as LinkProps,
    })),
    ...pausedModels.map(({ id, message, since }) => ({
      key: `model ${id}`,
      look: 'paused' as const,
      title: texts.model(id),
      detail: message,
      since,
      link: models,
    })),
    ...budgets
      .filter(({ share }) => share >= budgetFrom)
      .map(({ alias, share, tokens, costUsd }) => ({
        key: `budget ${alias}`,
        look: share >= 1 ? ('failing' as const) : ('paused' as const),
        title: texts.budget(alias, share),
        detail: texts.budgetDetail(tokens, costUsd),
        link: models,
      })),
    ...quotas.map(({ quota, limit, used, share, level, resetsAt }) => ({
      key: `quota ${quota}`,
      look: level === 'reached' ? ('failing' as const) : ('paused' as const),
      title: texts.quota(quota, share),
      detail: texts.quotaDetail({ quota, used, limit, resetsAt }),
      link: { to: '/settings/usage' } as LinkProps,
    })),
    ...(failingDestinations > 0
      ? [
          {
            key: 'destinations',
            look: 'failing' as const,
            title: texts.destinations(failingDestinations),
            link: { to: '/settings/destinations' } as LinkProps,
          },
        ]
      : []),
  ];
}

function listShortfalls({ datasetShortfalls }: Overview): Entry[] {
  return datasetShortfalls.map(({ dataset, since, hours, events, expected }) => ({
    key: `dataset ${dataset}`,
    look: 'silent',
    title: events === 0 ? texts.silentDataset(dataset) : texts.reducedDataset(dataset),
    detail: texts.shortfall({ hours, events, expected }),
    since,
    link: { to: '/logs', search: { dataset } },
  }));
}

function listEnding({ endingExceptions }: Overview): Entry[] {
  return endingExceptions.map(({ id, detectionId, detection, owner, expiresAt, matches }) => ({
    key: `exception ${id}`,
    look: 'paused',
    title: texts.endingException(detection),
    detail: texts.endsAt({ owner, at: formatLocal(expiresAt), matches }),
    link: { to: '/detections/$id', params: { id: detectionId }, search: { tab: 'exceptions' } },
  }));
}

function listFeedEntries({ feed }: Overview): Entry[] {
  if (!feed) return [];
  const linkTo = (id: string): LinkProps => ({ to: '/sources', search: { source: id } });
  return [
    ...feed.failingSources.map(({ id, name, failures, lastError, lastSuccessAt }) => ({
      key: id,
      look: 'failing' as const,
      title: texts.failingSource(name),
      detail: [texts.failures(failures), lastError].filter(Boolean).join(': '),
      since: lastSuccessAt,
      link: linkTo(id),
    })),
    ...feed.silentSources.map(({ id, name, silentSince }) => ({
      key: `silent ${id}`,
      look: 'silent' as const,
      title: texts.silentSource(name),
      detail: texts.silentDetail,
      since: silentSince,
      link: linkTo(id),
    })),
  ];
}

function listSuggestions({ suggestions: { open, newestAt } }: Overview): Entry[] {
  if (open === 0) return [];
  return [
    { key: 'suggestions', look: 'idea', title: texts.suggestions(open), since: newestAt, link: { to: '/suggestions' } },
  ];
}
