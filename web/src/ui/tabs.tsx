import { Link } from '@tanstack/react-router';
import { formatNumber } from '../lib/text.ts';
import { useCurrentInView } from '../lib/use-current-in-view.ts';

type Props = {
  label: string;
  current: string;
  tabs: readonly { key: string; label: string; count?: number | undefined }[];
  /** The parameter of the address. Default: `tab`. */
  param?: string;
};

/** Parts of a page, each with an address of its own. The first one has the address without the parameter. */
export function Tabs({ label, current, tabs, param = 'tab' }: Props) {
  const row = useCurrentInView<HTMLElement>(current);
  return (
    <nav ref={row} aria-label={label} className="flex shrink-0 gap-1 overflow-x-auto border-b px-2">
      {tabs.map(({ key, label: text, count = 0 }, index) => (
        <Link
          key={key}
          to="."
          // The current tab keeps the other parameters of the address, so that it is the active link.
          search={(key === current ? true : index === 0 ? {} : { [param]: key }) as never}
          activeOptions={{ exact: true }}
          className="-mb-px flex h-9 items-center border-b-2 border-transparent px-2 whitespace-nowrap text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink"
        >
          {text} {count > 0 && <span className="tabular ml-1.5 text-12 text-muted">{formatNumber(count)}</span>}
        </Link>
      ))}
    </nav>
  );
}
