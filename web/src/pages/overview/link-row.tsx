import { Link, type LinkProps } from '@tanstack/react-router';

type Props = { link: LinkProps; icon: React.ReactNode; title: string; detail?: React.ReactNode; end?: React.ReactNode };

/** A line that leads to what it mentions. */
export function LinkRow({ link, icon, title, detail, end }: Props) {
  return (
    <li className="@container">
      <Link {...link} className="-mx-2 flex items-start gap-2.5 rounded-control px-2 py-1.5 hover:bg-hover">
        <span className="flex h-5 shrink-0 items-center">{icon}</span>
        <span className="min-w-0 grow @2xl:flex @2xl:items-baseline @2xl:gap-3">
          <span className="block truncate @2xl:max-w-1/2 @2xl:shrink-0">{title}</span>
          {detail && <span className="line-clamp-2 text-12 break-words text-muted">{detail}</span>}
        </span>
        {end && <span className="shrink-0 text-12 leading-5 text-muted">{end}</span>}
      </Link>
    </li>
  );
}
