import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { domainToASCII } from 'node:url';

const table = readFileSync(resolve(import.meta.dirname, '../../../reference-data/shipped/tlds.txt'), 'utf8');

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

/** Delegated top-level domains, and those of other naming systems that occur in reports. */
const topLevels = words(table.replaceAll(/^#.*$/gm, '') + ' onion i2p bit bazar coin lib emc');

export const isTopLevel = (label: string): boolean =>
  topLevels.has(label.toLowerCase()) ||
  // The table contains internationalized domains in their ASCII form.
  (/[^\u0000-\u007F]/.test(label) && topLevels.has(domainToASCII(label)));

const extensions = words(`
  exe dll sys ocx cpl scr drv efi msi msp mst cab bat cmd ps1 psm1 psd1 vbs vbe js jse mjs wsf wsh hta lnk url inf reg
  sct slk iqy wll cjs cts mts asi xsl xslt wsc diagcab jnlp au3 a3x ahk nupkg whl vsix uue ace arj lzh zst wim kirbi ps1xml xlt xltm ppam ppsm potm appimage doc docx docm dot dotm dotx xls xlsx xlsm xlsb xll xlam ppt pptx pptm ppsx pps rtf hwp hwpx pdf odt ods one pub mdb accdb csv txt log
  ini cfg conf config yml yaml xml json toml properties plist dat data bin tmp temp bak old db sqlite sqlite3 db3 idx cache
  zip rar 7z alz egg gz tgz bz2 xz tar iso img vhd vhdx vmdk dmg pkg deb rpm apk ipa jar war class dex aab xapk
  py pyc pyd pyw rb pl pm php php3 php5 phtml asp aspx ashx asmx jsp jspx cgi html htm mht mhtml shtml css scss ts tsx jsx vue
  sh bash zsh csh ksh so dylib o a ko elf c h cpp hpp cs vb rs go java kt swift lua sql md rst adoc ipynb
  png jpg jpeg gif bmp ico svg webp tif tiff mp3 mp4 avi mov wav mkv flv swf fla eps ttf woff woff2
  pem key crt cer der pfx p12 csr jks kdbx ppk ovpn rdp pst ost eml msg evtx evt etl dmp mdmp pcap pcapng pdb lib obj map
  application manifest appx msix xap deploy settings theme msc chm hlp job pif com app command scpt
  mof asar node nls mui ax tlb res resx resources rules yar yara sig nse list lst lock pid service timer socket torrent crx xpi aes enc locked
`);
/** File extensions that are also member names in code, after a single letter or before a call. */
const members = words('data list log map key sig rules cache config settings properties lock service socket command');
export const isMemberName = (label: string): boolean => members.has(label);

/** Top-level domains that are also file extensions, or words of code or prose. */
const suspicious = words(`
  zip py sh pl pm rs so md ps js cc com app mov ms ml ai java go st la mk cs vb ts do in it is as at to be am my me no us so id
  name host link page info link data date here how now new one open read run save search site support team tech test today top
  video work zone click call cab case bar box map media network news download express fail cloud codes band beer best
  bid bio blog builders center chat cool dev domains email energy engineering events exchange global group help
  io ist land law live menu org parts photo place plus press properties report rest review rocks sc sex show sk
  social solutions space store style systems tips tools training vi web webcam wiki win works world xyz gg fm tv
`);
// Ambiguous, but common in real host names.
for (const usual of ['com', 'org', 'info', 'xyz', 'io', 'top', 'site', 'space', 'cloud', 'ml', 'tv', 'click', 'live'])
  suspicious.delete(usual);

export const isFileExtension = (label: string): boolean => extensions.has(label.toLowerCase());
for (const label of extensions) if (isTopLevel(label) && !['com', 'info', 'in'].includes(label)) suspicious.add(label);

export const isSuspiciousTopLevel = (label: string): boolean => suspicious.has(label.toLowerCase());

/** First labels of code identifiers and products that look like host names. */
const codeRoots = words(`
  system microsoft java javax com org sun windows android this self document window console process math string object array
  node asp ado vb socket std sys os file data config http request response session module exports import jquery angular vue
  wscript shell application activexobject script response server e i args event item obj el ctx
`);
export const isCodeRoot = (label: string): boolean => codeRoots.has(label.toLowerCase());

const detectionRoots = words(`
  win win32 win64 w w32 w64 osx osx32 osx64 linux linux32 linux64 android android32 android64 trojan trojanspy troj backdoor bkdr heur msil vbs worm
  virus ransom ransomware exploit exp pua pup gen generic adware downloader trojandownloader dropper riskware hacktool not-a-virus mal malware
  suspicious artemis uds variant packed infostealer spyware rootkit bat html js java python php doc o97m x97m w97m swf app behaveslike
  email-worm net-worm
`);

/** Recognizes antivirus detection names such as `Trojan.Win32.Agent.ws`, split into labels at the dots. */
export const isDetectionName = (labels: string[]): boolean => {
  const root = labels[0]!.toLowerCase();
  if (labels.length === 2 && /^(?:com|net|org)$/i.test(labels[1]!)) return false;
  return detectionRoots.has(root) || detectionRoots.has(root.split(/[_-]/)[0]!);
};
