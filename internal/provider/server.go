package provider

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"
)

// Server is a Provider that listens.
type Server struct {
	*Provider
	// URL is where it listens, without a slash at the end.
	URL string
	// CA is the certificate in PEM by which a client can trust it; nil without TLS.
	CA []byte

	http *http.Server
	done chan error
}

// Start listens on addr, "127.0.0.1:0" if empty, and serves until Close. With
// secure it speaks TLS, HTTP/1.1 and HTTP/2, with a certificate made for the
// occasion, valid for localhost and the loopback addresses; without, HTTP/1.1.
func (p *Provider) Start(addr string, secure bool) (*Server, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("provider: %w", err)
	}
	s := &Server{
		Provider: p, URL: "http://" + l.Addr().String(), done: make(chan error, 1),
		http: &http.Server{Handler: p, ReadHeaderTimeout: time.Minute},
	}
	if !secure {
		go func() { s.done <- s.http.Serve(l) }()
		return s, nil
	}
	cert, ca, err := selfSigned()
	if err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("provider: certificate: %w", err)
	}
	s.URL, s.CA = "https://"+l.Addr().String(), ca
	s.http.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	go func() { s.done <- s.http.ServeTLS(l, "", "") }()
	return s, nil
}

// Close ends the server and waits for it; open answers get a second.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		_ = s.http.Close()
	}
	if err := <-s.done; err != http.ErrServerClosed {
		return err
	}
	return nil
}

// selfSigned makes a certificate that is its own authority.
func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(now.UnixNano()),
		Subject:               pkix.Name{CommonName: "trimtab scripted provider"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
